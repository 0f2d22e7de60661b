/**
 * Machines that another system creates and deletes, such as Cluster API. Our controller writes them as it follows the objects of that
 * system: kubenode never creates or deletes their instances and Nodes. Pure.
 */
import { FOLLOWED_PROVIDERS } from '../api/enums.ts';
import type { Machine } from '../api/generated/types.ts';
import { textAt } from '../kube/objects/json.ts';

/** The identity of a followed machine: the object of the other system, and the instance that both are about. */
export interface FollowedObject {
  readonly namespace: string;
  readonly name: string;
  readonly providerID: string;
}

const FIELDS = ['namespace', 'name', 'providerID'] as const;
/** That of `status.infra.providerID`. */
const MAX_PROVIDER_ID = 256;

export function isFollowed({ spec }: Pick<Machine, 'spec'>): boolean {
  const followed: readonly string[] = FOLLOWED_PROVIDERS;
  return followed.includes(spec.infra.provider);
}

/** Returns the object that the Machine follows; undefined: its config names none. */
export function followedObject({ spec }: Pick<Machine, 'spec'>): FollowedObject | undefined {
  const { config } = spec.infra;
  const [namespace, name, providerID] = FIELDS.map((field) => textAt(config, field));
  if (!namespace || !name || !providerID || providerID.length > MAX_PROVIDER_ID) return undefined;
  return { namespace, name, providerID };
}

/** Returns what is wrong with `spec.infra.config` of a followed Machine; undefined: nothing. */
export function followedConfigReason(machine: Pick<Machine, 'spec'>): string | undefined {
  if (followedObject(machine)) return undefined;
  const { provider } = machine.spec.infra;
  return `spec.infra.config: expected ${FIELDS.join(', ')}, as the controller of provider ${provider} writes them`;
}
