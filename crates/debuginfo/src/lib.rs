//! ELF, DWARF and BTF to struct layouts, variables and machine code.
