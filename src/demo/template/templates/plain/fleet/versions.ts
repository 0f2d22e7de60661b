/** The versions in the clusters. An update is one line here; the pipeline promotes it through test, pre and prod. */
export const versions = {
  shop: '1.0.0',
} as const;
