/** The decision of the checks about the objects of a commit. It depends on nothing but the commit and the code of the checks. */
export type ContentVerdict =
  | { readonly accepted: true; readonly because: string }
  | { readonly accepted: false; readonly message: string };
