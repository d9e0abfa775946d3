//! Sets of named bits.

/// Declares a set of bits as a type with a constant for each, with `|`, `contains`, and a Debug that names them.
macro_rules! flags {
    ($(#[$type_meta:meta])* $type:ident { $($(#[$meta:meta])* $name:ident = $value:expr;)* }) => {
        $(#[$type_meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $type(u32);

        impl $type {
            $($(#[$meta])* pub const $name: $type = $type($value);)*

            pub(crate) const fn from_bits(bits: u32) -> $type {
                $type(bits)
            }

            pub(crate) const fn bits(self) -> u32 {
                self.0
            }

            /// Whether all of `other` are in this set.
            pub const fn contains(self, other: $type) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any of `other` is in this set.
            pub const fn intersects(self, other: $type) -> bool {
                self.0 & other.0 != 0
            }
        }

        impl std::ops::BitOr for $type {
            type Output = $type;
            fn bitor(self, other: $type) -> $type {
                $type(self.0 | other.0)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut rest = self.0;
                let mut separator = "";
                $(if rest != 0 && $value & !rest == 0 {
                    write!(formatter, "{}{}", separator, stringify!($name))?;
                    separator = " | ";
                    rest &= !$value;
                })*
                if rest != 0 || separator.is_empty() {
                    write!(formatter, "{}{:#x}", separator, rest)?;
                }
                Ok(())
            }
        }
    };
}

pub(crate) use flags;
