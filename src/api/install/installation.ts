/** The objects that a cluster needs before any part of kubenode runs on it, in the order in which they are applied. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../kube/objects/object.ts';
import { policies } from '../policies/all.ts';
import { initialLedger } from '../policies/ledger.ts';
import { namespaces, serviceAccounts } from '../principals.ts';
import { bindings, roles } from '../roles/all.ts';

/** `crds/` is three directories up from src/api/install in a checkout, and from dist/api/install in the package. */
const CRDS = join(import.meta.dirname, '../../../crds');

/** Policies come last, because their parameters are our kinds and the ledger. */
export function installation(): readonly KubeObject[] {
  return [...namespaces(), ...crds(), ...principals(), initialLedger, ...policies()];
}

/** All but the CRDs, which are files that take a second to parse. */
export function installationWithoutCrds(): readonly KubeObject[] {
  return [...namespaces(), ...principals(), initialLedger, ...policies()];
}

function principals(): readonly KubeObject[] {
  return [...serviceAccounts(), ...roles(), ...bindings()];
}

export function crds(): readonly KubeObject[] {
  const names = readdirSync(CRDS).filter((name) => name.endsWith('.yaml'));
  if (names.length === 0) {
    throw new Error(`no CRD found in ${CRDS}: the package is incomplete. Install it again`);
  }
  return names.toSorted().map((name) => parse(readFileSync(join(CRDS, name), 'utf8')) as KubeObject);
}
