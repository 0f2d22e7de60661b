/** Component versions in one place, so that an update is a diff of one line. */

/** Component to version: `{ kubelet: '1.31.4' }`. */
export type Versions = Readonly<Record<string, string>>;

/** The name of the MachineComponent of one version: `kubelet-1.31.4`. */
export function componentRef(component: string, version: string): string {
  return `${component}-${version}`;
}

/** `spec.components` of a MachineComponentSet: each component with its version. */
export function componentsAt(versions: Versions): { readonly name: string; readonly componentRef: string }[] {
  return Object.entries(versions)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, version]) => ({ name, componentRef: componentRef(name, version) }));
}
