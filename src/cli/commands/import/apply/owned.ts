/** Decides whether `kubenode import --apply` may write a Machine: it creates, and changes only what it created. Pure. */
import { MANAGER_IMPORT, MANAGER_SYNC } from '../../../../api/names.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';

/** Explains why an existing Machine is left as it is; undefined: this command applied it. */
export function foreignMachineReason({ metadata }: KubeObject): string | undefined {
  const { name, managedFields = [], deletionTimestamp } = metadata;
  const managers = managedFields.filter(({ subresource }) => !subresource).map(({ manager }) => manager);
  if (!managers.includes(MANAGER_IMPORT)) {
    const by = managers.includes(MANAGER_SYNC)
      ? 'comes from git'
      : `was made by ${managers[0] ?? 'another program'}`;
    return `Machine ${name} exists and ${by}: change it there`;
  }
  return deletionTimestamp === undefined
    ? undefined
    : `Machine ${name} is being deleted: wait for the end of that`;
}
