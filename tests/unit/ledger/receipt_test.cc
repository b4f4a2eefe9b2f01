static_assert(true);
