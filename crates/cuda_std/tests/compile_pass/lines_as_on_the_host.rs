//! `gpu_println!` takes values, names and control flow as `println!` does.

use cuda_std::prelude::*;

struct Owned(u32);

impl Owned {
    fn into_number(self) -> u32 {
        self.0
    }
}

trait Printed {
    fn print(self);
    fn print_referenced(&self);
}

impl Printed for u32 {
    fn print(self) {
        gpu_println!("{self}");
        println!("{self}");
    }

    fn print_referenced(&self) {
        gpu_println!("{self} {}", &self);
        println!("{self} {}", &self);
    }
}

fn print_some(number: Option<u32>) -> Option<()> {
    gpu_println!("{}", number?);
    Some(())
}

/// The text is the caller's, and so are the names in it.
macro_rules! print {
    ($text:literal, $($value:expr),*) => {{
        let hidden = "the macro's";
        gpu_println!($text, $($value),*);
        println!($text, $($value),*);
        let _ = hidden;
    }};
}

#[kernel]
pub fn lines() {
    let owned = Owned(3);
    gpu_println!("{}", owned.into_number());
    for number in 0..3 {
        gpu_println!("{}", if number == 1 { continue } else { number });
    }
    'out: {
        gpu_println!("{number}", number = match Some(3) {
            Some(number) => number,
            None => break 'out,
        });
    }
    let r#type = 3;
    gpu_println!("{type}");
    let hidden = 4;
    print!("{} {hidden}", 3);
    3_u32.print();
    3_u32.print_referenced();
    print_some(None);
}

fn main() {}
