//! Marks the loops of a kernel or a device function, so that the simulator counts by round. Code for the GPU is
//! unchanged.

use crate::compiler::device_library_at;
use proc_macro2::Span;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprConst, ExprRepeat, GenericArgument, Item, Pat, Type, parse_quote};

/// The block with a call at the start of each loop's round.
pub fn with_rounds(block: &Block) -> Block {
    let mut block = block.clone();
    Marker.visit_block_mut(&mut block);
    block
}

struct Marker;

impl VisitMut for Marker {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_mut::visit_expr_mut(self, expression);
        // A loop with attributes stays unmarked: a block's last expression cannot have any.
        let (is_plain, body) = match expression {
            Expr::ForLoop(it) => (it.attrs.is_empty(), &mut it.body),
            Expr::While(it) => (it.attrs.is_empty(), &mut it.body),
            Expr::Loop(it) => (it.attrs.is_empty(), &mut it.body),
            _ => return,
        };
        if !is_plain {
            return;
        }
        // The line is the loop's, and the kernel cannot use the name.
        let span = Span::mixed_site().located_at(body.span());
        let cuda_std = device_library_at(span);
        let begin = quote_spanned! { span=> rounds.begin(); };
        let rounds = quote_spanned! { span=> let mut rounds = #cuda_std::kernel::loop_rounds(); };
        body.stmts.insert(0, parse_quote! { #begin });
        *expression = parse_quote! {{ #rounds #expression }};
    }

    fn visit_expr_repeat_mut(&mut self, repeat: &mut ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }

    // The thread does not execute the following, or they are not code of the function.
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}
    fn visit_generic_argument_mut(&mut self, _: &mut GenericArgument) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
}
