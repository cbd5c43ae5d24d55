//! Demands of what C has not: classes, methods, templates and ordered containers.

pub(in crate::meaning) mod classes;
pub(in crate::meaning) mod defaults;
pub(in crate::meaning) mod methods;
pub(in crate::meaning) mod promises;
pub(in crate::meaning) mod sorted;
pub(in crate::meaning) mod templates;
