/** Everything that a cluster needs before any part of kubenode runs on it, in the order in which it is applied. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../kube/object.ts';
import { policies } from './policies/all.ts';
import { namespaces, serviceAccounts } from './principals.ts';
import { bindings, roles } from './roles.ts';

/** `crds/` lies two folders up, from src/api in a checkout as from dist/api in the package. */
const CRDS = join(import.meta.dirname, '../../crds');

/** Policies come last: their parameters are our kinds. */
export function installation(): readonly KubeObject[] {
  return [...namespaces(), ...crds(), ...serviceAccounts(), ...roles(), ...bindings(), ...policies()];
}

export function crds(): readonly KubeObject[] {
  const names = readdirSync(CRDS).filter((name) => name.endsWith('.yaml'));
  if (names.length === 0) {
    throw new Error(`no CRD lies in ${CRDS}: the package is not whole, install it again`);
  }
  return names.toSorted().map((name) => parse(readFileSync(join(CRDS, name), 'utf8')) as KubeObject);
}
