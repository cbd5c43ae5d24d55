//! Objects that are handed and returned by value through pointers to functions: they lie in registers by their order, and
//! the function may take what lies there for something else.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::judge::handing::returned;
use crate::meaning::types::{Function, Type, lossy};
use crate::meaning::value::{Base, Sum, Value};

/// The number of what a function returns, among those of its parameters.
const RESULT: usize = usize::MAX;
/// Likewise of all arguments beyond its parameters.
const BEYOND: usize = usize::MAX - 1;

impl<'t> Evaluator<'_, '_, 't> {
    /// Arguments and the result of a call through a pointer.
    pub(in crate::meaning) fn handed_by_value(&mut self, callee: &Value<'t>, arguments: &[Value<'t>]) {
        if self.is_cpp || !self.world().is_complete {
            return;
        }
        let result = returned(&self.world().resolve(&callee.ty));
        let types = arguments.iter().filter(|argument| !argument.is_type).map(|argument| &argument.ty);
        let numbered = types.enumerate().chain([(RESULT, &result)]);
        let records: Vec<(usize, &'t [u8])> =
            numbered.filter_map(|(number, ty)| Some((number, self.subject_by_value(ty)?))).collect();
        if records.is_empty() {
            return;
        }
        let functions = self.functions_among(&self.called_values(callee));
        for (number, record) in records {
            if functions.is_empty() {
                let what = "it is handed by value through a pointer to a function that isn't known";
                self.tell_whole(record, what.to_owned());
            }
            for (home, name) in &functions {
                self.keep(Slot::ByValue(*home, name, number), &[Sum::object(record)]);
            }
        }
    }

    /// An argument of a function that is defined, beyond its parameters.
    pub(in crate::meaning) fn passed_beyond(
        &mut self,
        function: &Function<'t>,
        name: &'t [u8],
        argument: &Value<'t>,
    ) {
        if let Some(record) = self.subject_by_value(&argument.ty).filter(|_| !argument.is_type) {
            self.keep(Slot::ByValue(function.home, name, BEYOND), &[Sum::object(record)]);
        }
    }

    /// `va_arg(list, T)`: what callers passed may be of another type.
    pub(in crate::meaning) fn taken_from_list(&mut self, ty: &Type<'t>) {
        let Type::Record(taken) = self.world().resolve(ty) else { return };
        for sum in self.kept(Slot::ByValue(self.home, self.function, BEYOND)) {
            if let Some(Base::Object(record)) = sum.base
                && record != taken
            {
                let what = format!("{} takes it for a {}", lossy(self.function), lossy(taken));
                self.tell_whole(record, what);
            }
        }
    }

    fn subject_by_value(&self, ty: &Type<'t>) -> Option<&'t [u8]> {
        match self.world().resolve(ty) {
            Type::Record(record) => self.subject(record).map(|_| record),
            _ => None,
        }
    }

    /// Parameters that the function here takes for something else than its callers do.
    pub(in crate::meaning) fn taken_by_value(&mut self, name: &'t [u8], function: &Function<'t>) {
        let parameters = function.parameters.iter().map(|(_, ty)| ty).enumerate();
        let own = parameters.chain([(RESULT, &function.returns)]);
        for (number, ty) in own {
            let ty = self.world().resolve(ty);
            // A macro or a template may be any type's name.
            if matches!(ty, Type::Unknown | Type::Named(_)) || number == RESULT && ty == Type::Void {
                continue;
            }
            for sum in self.kept(Slot::ByValue(function.home, name, number)) {
                if let Some(Base::Object(record)) = sum.base
                    && ty != Type::Record(record)
                {
                    let what = format!("{} is handed it by value, as another type", lossy(name));
                    self.tell_whole(record, what);
                }
            }
        }
    }
}
