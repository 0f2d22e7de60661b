/** The objects that a cluster needs before any part of kubenode runs on it, in the order in which they are applied. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { policies } from '../policies/all.ts';
import { initialLedger } from '../policies/ledger.ts';
import { namespaces, serviceAccounts } from '../principals.ts';
import { bindings, roles } from '../roles/all.ts';
import { crds } from './crds.ts';

/** Policies come last, because their parameters are our kinds and the ledger. */
export function installation(): readonly KubeObject[] {
  const principals = [...serviceAccounts(), ...roles(), ...bindings()];
  return [...namespaces(), ...crds(), ...principals, initialLedger, ...policies()];
}
