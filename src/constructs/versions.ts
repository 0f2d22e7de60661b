/** One place for component versions, so that a bump is a diff of one line. */

/** Component to version: `{ kubelet: '1.31.4' }`. */
export type Versions = Readonly<Record<string, string>>;

/** The name of the MachineComponent of one version: `kubelet-1.31.4`. */
export function componentRef(component: string, version: string): string {
  return `${component}-${version}`;
}

/** What a MachineComponentSet lists: each component at its version. */
export function componentsAt(versions: Versions): { readonly name: string; readonly componentRef: string }[] {
  return Object.entries(versions)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, version]) => ({ name, componentRef: componentRef(name, version) }));
}
