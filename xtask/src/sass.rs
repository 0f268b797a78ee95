//! Checks the machine code of loops around warpgroup products.
//!
//! ptxas may put a fence, a local memory access or a copy of accumulators into the multiplying loop. The results stay
//! correct, but each costs a large part of the speed. The listing is from `nvdisasm --print-code`; its labels and
//! branches give the loops.

use crate::workspace::Result;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Kernels whose threads write the operands themselves. They need fences in the loop, such as `fence.proxy.async`.
const FENCED: [&str; 1] = ["tensor_warpgroup_nt"];

/// The listing of one kernel.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    instructions: Vec<Instruction>,
    /// The index of the instruction after each label.
    labels: HashMap<String, usize>,
}

#[derive(Debug)]
struct Instruction {
    /// Whether the instruction is predicated.
    is_guarded: bool,
    /// With its modifiers, such as `HGMMA.64x128x16.F32.BF16`.
    opcode: String,
    operands: String,
}

/// The cost of an innermost loop with products, in instructions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LoopCost {
    products: usize,
    /// Accesses of local memory.
    local: usize,
    /// Operations on L1.
    cache_controls: usize,
    fences: usize,
    /// Copies of accumulators between the first product and the last.
    moves: usize,
}

impl LoopCost {
    /// The defect of the loop in this kernel, if any.
    pub fn defect(&self, kernel: &str) -> Option<String> {
        let is_clean = self.local + self.cache_controls + self.moves == 0;
        let is_fenced = self.fences != 0;
        let is_right = is_clean && is_fenced == FENCED.contains(&kernel);
        (!is_right).then(|| format!("{kernel} has a slow loop of products: {self}"))
    }
}

impl std::fmt::Display for LoopCost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} products, {} accesses of local memory, {} CCTL, {} MEMBAR, {} moves of accumulators",
            self.products, self.local, self.cache_controls, self.fences, self.moves
        )
    }
}

/// Reads the kernels of a listing.
pub fn kernels(listing: &str) -> Result<Vec<Kernel>> {
    let instruction = Regex::new(r"^\s*/\*[0-9a-f]+\*/\s+(@\S+\s+)?([A-Z][\w.]*)\s*([^;]*);")?;
    let label = Regex::new(r"^([.$\w]+):$")?;
    let mut kernels: Vec<Kernel> = Vec::new();
    for line in listing.lines() {
        if let Some(name) = line.strip_prefix(".text.") {
            kernels.push(Kernel {
                name: name.trim_end_matches(':').to_owned(),
                instructions: Vec::new(),
                labels: HashMap::new(),
            });
        }
        let Some(kernel) = kernels.last_mut() else {
            continue;
        };
        if let Some(found) = label.captures(line) {
            let next = kernel.instructions.len();
            kernel.labels.insert(found[1].to_owned(), next);
        } else if let Some(found) = instruction.captures(line) {
            kernel.instructions.push(Instruction {
                is_guarded: found.get(1).is_some(),
                opcode: found[2].to_owned(),
                operands: found[3].trim().to_owned(),
            });
        }
    }
    Ok(kernels)
}

impl Kernel {
    /// The entry's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the kernel has products.
    pub fn multiplies(&self) -> bool {
        self.instructions.iter().any(Instruction::is_product)
    }

    /// The costs of the innermost loops with products, in the order of the code.
    pub fn product_loops(&self) -> Vec<LoopCost> {
        let has_product = |body: &BTreeSet<usize>| {
            let mut body = body.iter();
            body.any(|place| self.instructions[*place].is_product())
        };
        let mut loops = self.loops();
        loops.retain(|_, body| has_product(body));
        let is_innermost = |body: &&BTreeSet<usize>| {
            let mut others = loops.values();
            !others.any(|other| other != *body && other.is_subset(body))
        };
        let innermost = loops.values().filter(is_innermost);
        innermost.map(|body| self.cost(body)).collect()
    }

    fn cost(&self, body: &BTreeSet<usize>) -> LoopCost {
        let instructions = || body.iter().map(|place| &self.instructions[*place]);
        let count = |names: &[&str]| {
            instructions()
                .filter(|it| names.contains(&it.name()))
                .count()
        };
        let is_product = |place: &&usize| self.instructions[**place].is_product();
        let products: Vec<usize> = body.iter().filter(is_product).copied().collect();
        let (first, last) = (products[0], products[products.len() - 1]);
        let accumulators = self.instructions[first].accumulators();
        let between = body
            .range(first..last)
            .map(|place| &self.instructions[*place]);
        LoopCost {
            products: products.len(),
            local: count(&["LDL", "STL"]),
            cache_controls: count(&["CCTL"]),
            fences: count(&["MEMBAR"]),
            moves: between.filter(|it| it.moves(&accumulators)).count(),
        }
    }

    /// The natural loops, by the index of their first instruction.
    fn loops(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut predecessors = vec![Vec::new(); self.instructions.len()];
        for from in 0..self.instructions.len() {
            for to in self.successors(from) {
                predecessors[to].push(from);
            }
        }
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (header, sources) in predecessors.iter().enumerate() {
            for source in sources {
                if let Some(body) = body(header, *source, &predecessors) {
                    loops.entry(header).or_default().extend(body);
                }
            }
        }
        loops
    }

    /// The possible next instructions. A call returns, unless it panics. Waits for other threads fall through.
    fn successors(&self, place: usize) -> Vec<usize> {
        let Instruction {
            is_guarded,
            opcode,
            operands,
        } = &self.instructions[place];
        let next = (place + 1 < self.instructions.len()).then_some(place + 1);
        // `BRA.DIV` and similar depend on the warp's threads.
        let (target, falls_through) = match opcode.split('.').next() {
            Some("BRA") => (self.target(operands), *is_guarded || opcode != "BRA"),
            Some("EXIT" | "RET" | "KILL") => (None, *is_guarded),
            Some("CALL") if operands.contains("core_panicking") => (None, *is_guarded),
            _ => (None, true),
        };
        let next = next.filter(|_| falls_through);
        target.into_iter().chain(next).collect()
    }

    /// The target of a branch: "`(.L_x_0)".
    fn target(&self, operands: &str) -> Option<usize> {
        let (_, label) = operands.split_once("`(")?;
        let (label, _) = label.split_once(')')?;
        let target = self.labels.get(label).copied()?;
        (target < self.instructions.len()).then_some(target)
    }
}

/// The body of the natural loop with the back edge from `source` to `header`: `header`, and all instructions that
/// reach `source` without passing `header`. `None` if that includes the kernel's first instruction, so that `header`
/// does not dominate `source`, or if `header` does not reach `source`.
fn body(header: usize, source: usize, predecessors: &[Vec<usize>]) -> Option<BTreeSet<usize>> {
    let mut body = BTreeSet::from([header]);
    let mut is_cycle = false;
    let mut waiting = vec![source];
    while let Some(place) = waiting.pop() {
        if place == header {
            is_cycle = true;
        } else if place == 0 {
            return None;
        } else if body.insert(place) {
            waiting.extend(&predecessors[place]);
        }
    }
    is_cycle.then_some(body)
}

impl Instruction {
    /// Its name without modifiers.
    fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or("")
    }

    /// Whether the instruction is a warpgroup product.
    fn is_product(&self) -> bool {
        matches!(self.name(), "HGMMA" | "QGMMA" | "IGMMA")
    }

    /// The registers of a product's outputs: 64 x n outputs of 32 bits, in 128 threads.
    fn accumulators(&self) -> Range<u32> {
        let first = registers(&self.operands).next().unwrap_or(0);
        let columns = self.opcode.split('x').nth(1).and_then(|it| it.parse().ok());
        first..first + columns.unwrap_or(0_u32) / 2
    }

    /// Whether the instruction copies from or to one of these registers.
    fn moves(&self, accumulators: &Range<u32>) -> bool {
        let is_move = self.name() == "MOV" || self.opcode.starts_with("IMAD.MOV");
        is_move && registers(&self.operands).any(|it| accumulators.contains(&it))
    }
}

/// The numbers of the registers `R0` to `R254` of operands.
fn registers(operands: &str) -> impl Iterator<Item = u32> {
    operands
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.strip_prefix('R')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose outer loop spills and whose inner loop multiplies, with `lines` before the inner loop's last
    /// product. The retry of its wait is after the kernel's end.
    fn listing(lines: &str) -> String {
        format!(
            "\t.section\t.text.product,\"ax\",@progbits\n\
             .text.product:\n\
             \x20       /*0000*/                   LDC R1, c[0x0][0x28] ;\n\
             .L_x_0:\n\
             \x20       /*0010*/                   STL [R1], R2 ;\n\
             \x20       /*0020*/                   MEMBAR.ALL.GPU ;\n\
             .L_x_1:\n\
             \x20       /*0030*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR11], R5 ;\n\
             \x20       /*0040*/              @!P2 BRA `(.L_x_3) ;\n\
             .L_x_2:\n\
             \x20       /*0050*/                   IMAD.MOV.U32 R24, RZ, RZ, R30 ;\n\
             \x20       /*0060*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24 ;\n\
             {lines}\
             \x20       /*0080*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, gsb0 ;\n\
             \x20       /*0090*/               @P4 BRA `(.L_x_1) ;\n\
             \x20       /*00a0*/                   CCTL.IVALL ;\n\
             \x20       /*00b0*/               @P0 BRA `(.L_x_0) ;\n\
             \x20       /*00c0*/                   EXIT ;\n\
             .L_x_3:\n\
             \x20       /*00d0*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR11], R5 ;\n\
             \x20       /*00e0*/              @!P2 BRA `(.L_x_3) ;\n\
             \x20       /*00f0*/                   BRA `(.L_x_2) ;\n\
             .L_x_4:\n\
             \x20       /*0100*/                   BRA `(.L_x_4);\n"
        )
    }

    fn cost_with(lines: &str) -> LoopCost {
        let kernels = kernels(&listing(lines)).unwrap();
        assert_eq!(kernels.len(), 1);
        assert_eq!(kernels[0].name(), "product");
        assert!(kernels[0].multiplies());
        let mut loops = kernels[0].product_loops();
        assert_eq!(loops.len(), 1, "{loops:?}");
        loops.remove(0)
    }

    #[test]
    fn what_stands_outside_of_the_inner_loop_does_not_count() {
        let clean = LoopCost {
            products: 2,
            ..LoopCost::default()
        };
        let others = "\x20 /*0070*/ IMAD.MOV.U32 R7, RZ, RZ, 0x40000040 ;\n\
                      \x20 /*0071*/ MOV R8, R153 ;\n\
                      \x20 /*0072*/ FADD R24, R24, R30 ;\n";
        assert_eq!(cost_with(others), clean);
        assert_eq!(clean.defect("product"), None);
    }

    /// ptxas puts the call of a panic before the retry of a wait, after the kernel's end.
    #[test]
    fn a_panic_leads_to_no_loop() {
        let panics = listing("")
            .replace("LDC R1, c[0x0][0x28]", "@P0 BRA `(.L_x_5)")
            .replace(
                ".L_x_3:",
                ".L_x_5:\n\
                 \x20       /*00c8*/                   CALL.REL.NOINC `($product$core_panicking_panic_0) ;\n\
                 .L_x_3:",
            );
        let kernels = kernels(&panics).unwrap();
        assert_eq!(kernels[0].product_loops().len(), 1, "{kernels:?}");
        let calls = panics.replace("core_panicking_panic", "rcp");
        assert!(
            super::kernels(&calls).unwrap()[0]
                .product_loops()
                .is_empty()
        );
    }

    #[test]
    fn each_slow_instruction_is_found() {
        let lines = [
            ("LDL R3, [R1+0x8]", "1 accesses of local memory"),
            ("@P1 STL.64 [R1+0x8], R2", "1 accesses of local memory"),
            ("CCTL.IVALL", "1 CCTL"),
            ("MEMBAR.SC.GPU", "1 MEMBAR"),
            ("MOV R151, R3", "1 moves"),
            ("IMAD.MOV.U32 R3, RZ, RZ, R24", "1 moves"),
        ];
        for (line, words) in lines {
            let cost = cost_with(&format!("        /*0070*/ {line} ;\n"));
            let defect = cost.defect("product").expect(line);
            assert!(defect.contains(words), "{line}: {defect}");
        }
    }

    #[test]
    fn fences_are_defects_unless_threads_write_the_operands() {
        let fenced = cost_with("        /*0070*/ MEMBAR.ALL.CTA ;\n");
        assert!(fenced.defect("product").is_some() && fenced.defect(FENCED[0]).is_none());
        assert!(cost_with("").defect(FENCED[0]).is_some());
    }

    #[test]
    fn products_without_a_loop_have_no_cost() {
        let listing = ".text.straight:\n        /*0000*/ IGMMA.64x64x32.S8.S8 R24, gdesc[UR4], R24 ;\n\
                       \x20       /*0010*/ EXIT ;\n";
        let kernels = kernels(listing).unwrap();
        assert!(kernels[0].multiplies() && kernels[0].product_loops().is_empty());
    }
}
