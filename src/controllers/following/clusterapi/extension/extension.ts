/**
 * Answers the hooks of Cluster API for updates in place. Every choice is made in plan.ts. Each replica answers, also one that does not lead: an
 * update begins with one apply, which two replicas may repeat, and all after it is done by those that have the grant.
 */
import { MACHINES } from '../../../../api/generated/resources.ts';
import type { Machine } from '../../../../api/generated/types.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import { textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject, ObjectName, Resource } from '../../../../kube/objects/object.ts';
import type { Log } from '../../../../kube/process/log.ts';
import { messageOf } from '../../../../os/errors.ts';
import {
  ANNOTATION_UPDATING,
  BOOTSTRAP_PROVIDER_GROUP,
  CLUSTER_API_GROUP,
  CLUSTER_API_VERSIONS,
  KUBEADM_CONFIG,
  kubeadmConfigName,
} from '../contract.ts';
import { coverAnswer, discoveryAnswer, failureAnswer, type HookResponse, progressAnswer } from './answers.ts';
import { planCover } from './cover.ts';
import { pin } from './execute.ts';
import { machinesAskedAbout, type UpdateFacts } from './machines.ts';
import { planUpdate, type StoredConfig, type StoredMachine, type UpdateDecision } from './plan.ts';
import { type HookName, questionIn, updateIn } from './protocol.ts';

export interface UpdateExtension {
  /** Never rejects: an error is the answer Failure, after which Cluster API asks again. */
  answer(hook: HookName, body: unknown): Promise<HookResponse>;
}

export interface UpdateExtensionOptions {
  /** With the rights of kubenode-clusterapi. */
  readonly client: Pick<Client, 'get' | 'apply'>;
  /** For the cluster that has the objects of Cluster API. */
  readonly theirs: Pick<Client, 'get'>;
  /** Rejects while something that it needs is not known. */
  readonly facts: () => Promise<UpdateFacts>;
  readonly log: Log;
}

/** How soon Cluster API asks again about an update that is under way. */
const RETRY_SECONDS = 10;
/** Longer messages fill the status of a Machine of Cluster API. */
const MAX_MESSAGE = 1024;
const CHANGED = 'the Machine of kubenode has changed, and is judged again';
const [VERSION] = CLUSTER_API_VERSIONS;
const THEIR_MACHINES: Resource = {
  group: CLUSTER_API_GROUP,
  version: VERSION,
  kind: 'Machine',
  plural: 'machines',
  namespaced: true,
};
const THEIR_CONFIGS: Resource = {
  group: BOOTSTRAP_PROVIDER_GROUP,
  version: VERSION,
  kind: KUBEADM_CONFIG,
  plural: 'kubeadmconfigs',
  namespaced: true,
};

export function createUpdateExtension(options: UpdateExtensionOptions): UpdateExtension {
  const { log } = options;
  return {
    async answer(hook, body) {
      if (hook === 'Discovery') return discoveryAnswer();
      try {
        return hook === 'UpdateMachine' ? await update(body, options) : await cover(hook, body, options);
      } catch (error) {
        log.warn('update hook failed', { hook, error });
        return failureAnswer(hook, messageOf(error).slice(0, MAX_MESSAGE));
      }
    },
  };
}

async function cover(
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet',
  body: unknown,
  { facts, log }: UpdateExtensionOptions,
): Promise<HookResponse> {
  const question = questionIn(hook, body);
  if (!question) return failureAnswer(hook, `expected a ${hook}Request`);
  const decision = planCover(question, await facts());
  const { namespace, name } = question.current;
  const { type, because } = decision;
  log.info('update in place judged', { hook, object: `${namespace}/${name}`, decision: type, because });
  if (decision.type === 'Undecided') return failureAnswer(hook, because.slice(0, MAX_MESSAGE));
  return coverAnswer(hook, decision.type === 'Covered' ? decision : undefined);
}

async function update(body: unknown, options: UpdateExtensionOptions): Promise<HookResponse> {
  const { client, theirs, facts, log } = options;
  const request = updateIn(body);
  if (!request) return failureAnswer('UpdateMachine', 'expected an UpdateMachineRequest');
  const { desired: asked, onFailure } = request;
  const known = await facts();
  const [own] = machinesAskedAbout(asked, known.machines);
  const [stored, machine] = await Promise.all([
    found(theirs.get(THEIR_MACHINES, asked)).then((object) => object && storedMachine(object, theirs)),
    own && found(client.get<Machine>(MACHINES, { name: own.metadata.name })),
  ]);
  const decision = planUpdate({ ...known, asked, onFailure, stored, machine });
  const { type, because } = decision;
  const object = `${asked.namespace}/${asked.name}`;
  log.info('update in place asked for', { object, version: asked.version, decision: type, because });
  if (decision.type === 'Pin' && !(await pin(decision, client))) return progressAnswer(CHANGED, 1);
  return answerOf(decision);
}

function answerOf({ type, because }: UpdateDecision): HookResponse {
  const message = because.slice(0, MAX_MESSAGE);
  if (type === 'Refuse' || type === 'Fail') return failureAnswer('UpdateMachine', message);
  return progressAnswer(message, type === 'Done' ? 0 : RETRY_SECONDS);
}

async function found<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function storedMachine(object: KubeObject, client: Pick<Client, 'get'>): Promise<StoredMachine> {
  const name = kubeadmConfigName(object);
  const { namespace = '' } = object.metadata;
  return {
    version: textAt(object, 'spec', 'version'),
    providerID: textAt(object, 'spec', 'providerID'),
    isUpdating: isUpdating(object),
    config: name === undefined ? undefined : await storedConfig({ namespace, name }, client),
  };
}

async function storedConfig(name: ObjectName, client: Pick<Client, 'get'>): Promise<StoredConfig> {
  try {
    const config = await found(client.get(THEIR_CONFIGS, name));
    if (!config) return { unreadable: `KubeadmConfig ${name.namespace}/${name.name} was not found` };
    return { spec: config['spec'], isUpdating: isUpdating(config) };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return { unreadable: messageOf(error) };
    throw error;
  }
}

function isUpdating({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_UPDATING] !== undefined;
}
