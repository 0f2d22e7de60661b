/**
 * Machines that another system creates and deletes, such as Cluster API, Karpenter or a node group. Our controllers write them as they follow the objects of
 * that system: kubenode never creates or deletes their instances and Nodes. Pure.
 */
import { FOLLOWED_PROVIDERS, type FollowedProvider } from '../api/enums.ts';
import type { Machine } from '../api/generated/types.ts';
import { textAt } from '../kube/objects/json.ts';

/** The identity of a followed machine: the object of the other system, and the instance that both are about. */
export interface FollowedObject {
  /** Undefined: the kind of the object has no namespaces. */
  readonly namespace?: string;
  readonly name: string;
  readonly providerID: string;
  /** Names the kind of the object, for provider external only. */
  readonly kind?: string;
}

/** The fields of `spec.infra.config` for each provider. */
const FIELDS: Readonly<Record<FollowedProvider, readonly (keyof FollowedObject)[]>> = {
  clusterapi: ['namespace', 'name', 'providerID'],
  external: ['kind', 'name', 'providerID'],
};
/** That of `status.infra.providerID`. */
const MAX_PROVIDER_ID = 256;

export function isFollowed({ spec }: Pick<Machine, 'spec'>): boolean {
  return fieldsOf(spec.infra.provider) !== undefined;
}

/** Returns the object that the Machine follows; undefined: its config names none. */
export function followedObject({ spec }: Pick<Machine, 'spec'>): FollowedObject | undefined {
  const { config, provider } = spec.infra;
  const fields = fieldsOf(provider);
  const [name, providerID] = [textAt(config, 'name'), textAt(config, 'providerID')];
  if (!name || !providerID || providerID.length > MAX_PROVIDER_ID) return undefined;
  if (!fields || fields.some((field) => !textAt(config, field))) return undefined;
  const optionalFields = fields.filter((field) => field !== 'name' && field !== 'providerID');
  return {
    ...Object.fromEntries(optionalFields.map((field) => [field, textAt(config, field)])),
    name,
    providerID,
  };
}

/** Names the object for people, with its system. */
export function followedText({ kind = 'Machine', namespace, name }: FollowedObject): string {
  if (namespace !== undefined) return `${kind} ${namespace}/${name} of Cluster API`;
  return `${kind} ${name} of ${kind === 'Node' ? 'a node group' : 'Karpenter'}`;
}

/** Returns what is wrong with `spec.infra.config` of a followed Machine; undefined: nothing. */
export function followedConfigReason(machine: Pick<Machine, 'spec'>): string | undefined {
  if (followedObject(machine)) return undefined;
  const { provider } = machine.spec.infra;
  return `spec.infra.config: expected ${(fieldsOf(provider) ?? []).join(', ')}, as the controller of provider ${provider} writes them`;
}

function fieldsOf(
  provider: Machine['spec']['infra']['provider'],
): readonly (keyof FollowedObject)[] | undefined {
  const followed = FOLLOWED_PROVIDERS.find((each) => each === provider);
  return followed && FIELDS[followed];
}
