/** Compares the add-ons that a spec declares with those that are installed. Pure. */
import type { HostedAddon } from '../../../api/generated/types.ts';
import type { AddonsReport } from './report.ts';

export function enabledAddons(declared: readonly HostedAddon[]): readonly HostedAddon[] {
  return declared.filter(({ enabled }) => enabled);
}

export function isDeclared(declared: readonly HostedAddon[], addon: string): boolean {
  return enabledAddons(declared).some(({ name }) => name === addon);
}

/** Tells whether each add-on was last begun with the manifests that are declared, and no other one is installed. */
export function areAsDeclared({ installed }: AddonsReport, declared: readonly HostedAddon[]): boolean {
  const enabled = enabledAddons(declared);
  return (
    installed.length === enabled.length &&
    enabled.every(({ name, sha256 }) => installed.some((each) => each.name === name && each.begun === sha256))
  );
}
