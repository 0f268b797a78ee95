; Remainders of floats, which a module gets that has a `frem`. Every function is inlined.

; The remainder of %x / %y with the sign of %x, exactly, as `%` of Rust has it on the host. What LLVM
; makes of `frem` for NVPTX is x - trunc(x / y) * y, whose quotient is rounded.
define float @__cuda_std_remainder_f32(float %x, float %y) alwaysinline nounwind {
start:
  %x.bits = bitcast float %x to i32
  %y.bits = bitcast float %y to i32
  %sign = and i32 %x.bits, -2147483648
  %dividend = and i32 %x.bits, 2147483647
  %divisor = and i32 %y.bits, 2147483647
  %y.zero = icmp eq i32 %divisor, 0
  %y.nan = icmp ugt i32 %divisor, 2139095040
  %x.infinite = icmp uge i32 %dividend, 2139095040
  %y.invalid = or i1 %y.zero, %y.nan
  %invalid = or i1 %y.invalid, %x.infinite
  br i1 %invalid, label %none, label %compare
none:
  ret float 0x7FFFFFFFE0000000
compare:
  %smaller = icmp ult i32 %dividend, %divisor
  br i1 %smaller, label %whole, label %divide
whole:
  ret float %x
divide:
  %x.field = lshr i32 %dividend, 23
  %y.field = lshr i32 %divisor, 23
  %x.subnormal = icmp eq i32 %x.field, 0
  %y.subnormal = icmp eq i32 %y.field, 0
  %x.fraction = and i32 %dividend, 8388607
  %y.fraction = and i32 %divisor, 8388607
  %x.normal = or i32 %x.fraction, 8388608
  %y.normal = or i32 %y.fraction, 8388608
  %x.integer = select i1 %x.subnormal, i32 %x.fraction, i32 %x.normal
  %y.integer = select i1 %y.subnormal, i32 %y.fraction, i32 %y.normal
  %x.exponent = select i1 %x.subnormal, i32 1, i32 %x.field
  %y.exponent = select i1 %y.subnormal, i32 1, i32 %y.field
  %apart = sub i32 %x.exponent, %y.exponent
  %first = urem i32 %x.integer, %y.integer
  br label %test
; 8 bits of the dividend at a time: so many fit beside a significand.
test:
  %left = phi i32 [ %apart, %divide ], [ %left.next, %step ]
  %rest = phi i32 [ %first, %divide ], [ %rest.next, %step ]
  %done = icmp eq i32 %left, 0
  br i1 %done, label %finish, label %step
step:
  %short = icmp ult i32 %left, 8
  %count = select i1 %short, i32 %left, i32 8
  %wide = shl i32 %rest, %count
  %rest.next = urem i32 %wide, %y.integer
  %left.next = sub i32 %left, %count
  br label %test
; The rest, below 2^24, times 2^(exponent - 150): both are exact, and so is the product.
finish:
  %magnitude = uitofp i32 %rest to float
  %of.normal = icmp ugt i32 %y.exponent, 23
  %scale.field = sub i32 %y.exponent, 23
  %scale.normal = shl i32 %scale.field, 23
  %scale.shift = sub i32 %y.exponent, 1
  %scale.subnormal = shl i32 1, %scale.shift
  %scale.bits = select i1 %of.normal, i32 %scale.normal, i32 %scale.subnormal
  %scale = bitcast i32 %scale.bits to float
  %scaled = fmul float %magnitude, %scale
  %scaled.bits = bitcast float %scaled to i32
  %signed = or i32 %scaled.bits, %sign
  %remainder = bitcast i32 %signed to float
  ret float %remainder
}

; The remainder of %x / %y with the sign of %x, exactly, as `%` of Rust has it on the host. What LLVM
; makes of `frem` for NVPTX is x - trunc(x / y) * y, whose quotient is rounded.
define double @__cuda_std_remainder_f64(double %x, double %y) alwaysinline nounwind {
start:
  %x.bits = bitcast double %x to i64
  %y.bits = bitcast double %y to i64
  %sign = and i64 %x.bits, -9223372036854775808
  %dividend = and i64 %x.bits, 9223372036854775807
  %divisor = and i64 %y.bits, 9223372036854775807
  %y.zero = icmp eq i64 %divisor, 0
  %y.nan = icmp ugt i64 %divisor, 9218868437227405312
  %x.infinite = icmp uge i64 %dividend, 9218868437227405312
  %y.invalid = or i1 %y.zero, %y.nan
  %invalid = or i1 %y.invalid, %x.infinite
  br i1 %invalid, label %none, label %compare
none:
  ret double 0x7FFFFFFFFFFFFFFF
compare:
  %smaller = icmp ult i64 %dividend, %divisor
  br i1 %smaller, label %whole, label %divide
whole:
  ret double %x
divide:
  %x.field = lshr i64 %dividend, 52
  %y.field = lshr i64 %divisor, 52
  %x.subnormal = icmp eq i64 %x.field, 0
  %y.subnormal = icmp eq i64 %y.field, 0
  %x.fraction = and i64 %dividend, 4503599627370495
  %y.fraction = and i64 %divisor, 4503599627370495
  %x.normal = or i64 %x.fraction, 4503599627370496
  %y.normal = or i64 %y.fraction, 4503599627370496
  %x.integer = select i1 %x.subnormal, i64 %x.fraction, i64 %x.normal
  %y.integer = select i1 %y.subnormal, i64 %y.fraction, i64 %y.normal
  %x.exponent = select i1 %x.subnormal, i64 1, i64 %x.field
  %y.exponent = select i1 %y.subnormal, i64 1, i64 %y.field
  %apart = sub i64 %x.exponent, %y.exponent
  %first = urem i64 %x.integer, %y.integer
  br label %test
; 11 bits of the dividend at a time: so many fit beside a significand.
test:
  %left = phi i64 [ %apart, %divide ], [ %left.next, %step ]
  %rest = phi i64 [ %first, %divide ], [ %rest.next, %step ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %finish, label %step
step:
  %short = icmp ult i64 %left, 11
  %count = select i1 %short, i64 %left, i64 11
  %wide = shl i64 %rest, %count
  %rest.next = urem i64 %wide, %y.integer
  %left.next = sub i64 %left, %count
  br label %test
; The rest, below 2^53, times 2^(exponent - 1075): both are exact, and so is the product.
finish:
  %magnitude = uitofp i64 %rest to double
  %of.normal = icmp ugt i64 %y.exponent, 52
  %scale.field = sub i64 %y.exponent, 52
  %scale.normal = shl i64 %scale.field, 52
  %scale.shift = sub i64 %y.exponent, 1
  %scale.subnormal = shl i64 1, %scale.shift
  %scale.bits = select i1 %of.normal, i64 %scale.normal, i64 %scale.subnormal
  %scale = bitcast i64 %scale.bits to double
  %scaled = fmul double %magnitude, %scale
  %scaled.bits = bitcast double %scaled to i64
  %signed = or i64 %scaled.bits, %sign
  %remainder = bitcast i64 %signed to double
  ret double %remainder
}
