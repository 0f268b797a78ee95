//! The registers of an interrupted host thread.

use corosensei::trap::TrapHandlerRegs;

/// The place at which a thread was interrupted.
pub(super) struct Registers {
    pub code: usize,
    pub stack: usize,
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    pub fn of(context: &libc::ucontext_t) -> Self {
        let registers = &context.uc_mcontext.gregs;
        Self {
            code: registers[libc::REG_RIP as usize] as usize,
            stack: registers[libc::REG_RSP as usize] as usize,
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) fn set_registers(context: &mut libc::ucontext_t, to: TrapHandlerRegs) {
    let TrapHandlerRegs {
        rip,
        rsp,
        rbp,
        rdi,
        rsi,
    } = to;
    let registers = &mut context.uc_mcontext.gregs;
    registers[libc::REG_RIP as usize] = rip as i64;
    registers[libc::REG_RSP as usize] = rsp as i64;
    registers[libc::REG_RBP as usize] = rbp as i64;
    registers[libc::REG_RDI as usize] = rdi as i64;
    registers[libc::REG_RSI as usize] = rsi as i64;
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    pub fn of(context: &libc::ucontext_t) -> Self {
        Self {
            code: context.uc_mcontext.pc as usize,
            stack: context.uc_mcontext.sp as usize,
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(super) fn set_registers(context: &mut libc::ucontext_t, to: TrapHandlerRegs) {
    let TrapHandlerRegs {
        pc,
        sp,
        x0,
        x1,
        x29,
        lr,
    } = to;
    let registers = &mut context.uc_mcontext;
    registers.pc = pc;
    registers.sp = sp;
    registers.regs[0] = x0;
    registers.regs[1] = x1;
    registers.regs[29] = x29;
    registers.regs[30] = lr;
}
