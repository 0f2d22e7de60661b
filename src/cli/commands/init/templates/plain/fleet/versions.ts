/** What runs in the clusters. A bump is one line here; it goes through test, pre and prod by itself. */
export const versions = {
  shop: '1.0.0',
} as const;
