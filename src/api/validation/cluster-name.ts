/** Explains why a text cannot be the name of a Cluster: with "-kubeconfig" it is the name of a Secret, and it is a value of labels. Pure. */

const NAME = /^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/;

/** Undefined: it can. */
export function clusterNameReason(name: string): string | undefined {
  if (name === 'hub') return 'the name "hub" is that of the hub itself: name the cluster in another way';
  return NAME.test(name) ? undefined : 'use lower-case letters, digits and "-", at most 52';
}
