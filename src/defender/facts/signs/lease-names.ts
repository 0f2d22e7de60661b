/** Leases by which other tools say that they maintain a node, as policies name them: `medik8s-leases/node-{node}`. Pure. */
import { textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

/** In the name of a Lease: the name of the Node. */
const NODE = '{node}';

export function leaseNameFor(pattern: string, node: string): string {
  return pattern.replaceAll(NODE, node);
}

/** A namespace of its own: of `..` an API server lists the Leases of all namespaces, and of `{node}` those of none. */
const LEASE = /^(?<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?)\/[a-z0-9{][-a-z0-9.{}]*$/;

/** Undefined: the pattern is not a namespace and a name. */
export function namespaceOfLease(pattern: string): string | undefined {
  return LEASE.exec(pattern)?.groups?.['namespace'];
}

/** Returns the node that a Lease is about: undefined where the pattern names all nodes, `false` where it is not of the pattern. */
export function nodeOfLease(pattern: string, lease: string): string | undefined | false {
  const [before = '', after] = pattern.split(NODE);
  if (after === undefined) return lease === pattern ? undefined : false;
  const node = lease.slice(before.length, lease.length - after.length);
  return node !== '' && leaseNameFor(pattern, node) === lease ? node : false;
}

/**
 * Tells whether somebody holds the Lease. One whose time is over is free, as every holder of Leases understands them. A Lease without a time
 * is held until its holder is removed.
 */
export function isHeldLease(lease: KubeObject, now: Date): boolean {
  if (!textAt(lease, 'spec', 'holderIdentity')) return false;
  const seconds = valueAt(lease, 'spec', 'leaseDurationSeconds');
  const since = Date.parse(textAt(lease, 'spec', 'renewTime') ?? textAt(lease, 'spec', 'acquireTime') ?? '');
  if (typeof seconds !== 'number' || Number.isNaN(since)) return true;
  return since + seconds * 1000 > +now;
}
