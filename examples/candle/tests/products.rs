//! Products against candle's own: on the CPU by the simulator, and on a GPU with the feature `cuda`.

use candle_core::{DType, Device, Result, Tensor, Var};
use candle_products::{matmul, matmul_dequantized};

/// The devices of this build.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::Cpu];
    if cfg!(feature = "cuda") {
        // Without a GPU, a test that was built for one fails.
        devices.push(Device::new_cuda(0).unwrap());
        devices.push(Device::new_cuda_with_stream(0).unwrap());
    }
    devices
}

/// A matrix of small whole numbers, whose products are exact in any order.
fn whole_numbers(shape: (usize, usize), device: &Device) -> Tensor {
    let number = |i: usize| (i * 7 % 11) as f32 - 5.0;
    let numbers: Vec<f32> = (0..shape.0 * shape.1).map(number).collect();
    Tensor::from_vec(numbers, shape, device).unwrap()
}

#[track_caller]
fn assert_equal(found: &Tensor, expected: &Tensor) {
    assert_eq!(
        found.to_vec2::<f32>().unwrap(),
        expected.to_vec2::<f32>().unwrap()
    );
}

#[test]
fn products_are_those_of_candle() -> Result<()> {
    for device in devices() {
        for (m, n, k) in [(1, 1, 1), (5, 3, 7), (33, 17, 65), (4, 0, 2)] {
            let (a, b) = (
                whole_numbers((m, k), &device),
                whole_numbers((k, n), &device),
            );
            assert_equal(&matmul(&a, &b)?, &a.matmul(&b)?);
        }
    }
    Ok(())
}

#[test]
fn transposes_and_parts_are_read_in_place() -> Result<()> {
    for device in devices() {
        let a = whole_numbers((12, 10), &device);
        let b = whole_numbers((9, 10), &device);
        assert_equal(&matmul(&a, &b.t()?)?, &a.matmul(&b.t()?)?);
        assert_equal(&matmul(&a.t()?, &a)?, &a.t()?.matmul(&a)?);
        let (left, right) = (a.narrow(1, 2, 5)?, a.narrow(1, 4, 5)?);
        let exact = left.contiguous()?.matmul(&right.t()?.contiguous()?)?;
        assert_equal(&matmul(&left, &right.t()?)?, &exact);
        let (above, row) = (a.narrow(0, 3, 4)?, a.narrow(0, 11, 1)?);
        assert_equal(&matmul(&row, &above.t()?)?, &row.matmul(&above.t()?)?);
    }
    Ok(())
}

#[test]
fn gradients_are_those_of_candle() -> Result<()> {
    for device in devices() {
        let a = Var::from_tensor(&whole_numbers((4, 6), &device))?;
        let b = Var::from_tensor(&whole_numbers((6, 5), &device))?;
        let gradients = |c: Tensor| -> Result<(Tensor, Tensor)> {
            let gradients = c.sqr()?.sum_all()?.backward()?;
            let of = |x: &Var| gradients.get(x).unwrap().clone();
            Ok((of(&a), of(&b)))
        };
        let found = gradients(matmul(&a, &b)?)?;
        let expected = gradients(a.matmul(&b)?)?;
        assert_equal(&found.0, &expected.0);
        assert_equal(&found.1, &expected.1);
    }
    Ok(())
}

#[test]
fn dequantized_products_are_those_of_scaled_matrices() -> Result<()> {
    let (m, n, k) = (6, 5, 40);
    for device in devices() {
        // All bits of an i8 occur.
        let bytes =
            |len: usize, step: usize| -> Vec<u8> { (0..len).map(|i| (i * step) as u8).collect() };
        let (a, b) = (bytes(m * k, 37), bytes(n * k, 91));
        let signed = |bytes: &[u8], shape| -> Result<Tensor> {
            let numbers: Vec<f32> = bytes.iter().map(|byte| f32::from(*byte as i8)).collect();
            Tensor::from_vec(numbers, shape, &device)
        };
        // Powers of two, so that candle's products of scaled numbers are exact, too.
        let scale = |len: usize| -> Vec<f32> { (0..len).map(|i| 0.5_f32.powi(i as i32)).collect() };
        let row_scale = Tensor::from_vec(scale(m), m, &device)?;
        // A scale that is a part of a tensor.
        let column_scale = Tensor::from_vec(scale(n + 2), n + 2, &device)?.narrow(0, 2, n)?;
        let exact = signed(&a, (m, k))?
            .broadcast_mul(&row_scale.reshape((m, 1))?)?
            .matmul(&signed(&b, (n, k))?.t()?)?
            .broadcast_mul(&column_scale.reshape((1, n))?)?;
        let a = Tensor::from_vec(a, (m, k), &device)?;
        let b = Tensor::from_vec(b, (n, k), &device)?;
        let found = matmul_dequantized(&a, &b.t()?, &row_scale, &column_scale)?;
        assert_equal(&found, &exact);
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_an_error() -> Result<()> {
    for device in devices() {
        let says = |result: Result<Tensor>, words: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        let a = whole_numbers((4, 6), &device);
        says(matmul(&a, &a), "inner sizes");
        says(matmul(&a.reshape((2, 2, 6))?, &a), "needs matrices");
        says(
            matmul(
                &a.broadcast_as((4, 6))?,
                &a.narrow(0, 0, 1)?.broadcast_as((6, 6))?,
            ),
            "contiguous",
        );
        says(
            matmul(&a.to_dtype(DType::F64)?, &a.t()?.to_dtype(DType::F64)?),
            "dtype",
        );
        let bytes = a.to_dtype(DType::U8)?;
        let scale = Tensor::ones(4, DType::F32, &device)?;
        says(
            matmul_dequantized(&bytes, &bytes.t()?, &scale, &scale.narrow(0, 0, 3)?),
            "4 elements",
        );
    }
    Ok(())
}
