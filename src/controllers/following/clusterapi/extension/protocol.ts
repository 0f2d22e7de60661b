/**
 * Reads the requests of the Runtime SDK of Cluster API, and writes its answers: group hooks.runtime.cluster.x-k8s.io, version v1alpha1. A
 * request is checked no further than it is used. Pure.
 */
import { isRecord, textAt, valueAt } from '../../../../kube/objects/json.ts';
import type { LabelSelector } from '../../../../kube/objects/selector.ts';

export const HOOKS_API_VERSION = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
/** The hooks that are served. Cluster API finds them by discovery, and calls each at a path of its name in lower case. */
export const UPDATE_HOOKS = ['CanUpdateMachine', 'CanUpdateMachineSet', 'UpdateMachine'] as const;
export type UpdateHook = (typeof UPDATE_HOOKS)[number];
export type HookName = UpdateHook | 'Discovery';

/** The most that Cluster API waits for an answer is 30 seconds. An answer needs two reads and one write. */
const TIMEOUT_SECONDS = 15;

/** One side of a question: it describes a Machine, or the template of a MachineSet. */
export interface AskedObject {
  readonly namespace: string;
  readonly name: string;
  readonly version: string | undefined;
  /** Only a Machine has one. */
  readonly providerID: string | undefined;
  /** Selects the Machines of a MachineSet; undefined for a Machine. */
  readonly selector: LabelSelector | undefined;
  readonly replicas: number;
}

export interface Question {
  readonly current: AskedObject;
  readonly desired: AskedObject;
}

export type OnFailure = 'Wait' | 'Fail';

export interface UpdateRequest {
  readonly desired: AskedObject;
  readonly onFailure: OnFailure;
}

/** The key in `spec.settings` of an ExtensionConfig, which Cluster API sends with each request. */
const ON_FAILURE = 'onFailure';

/** Returns what a path of Cluster API calls; undefined: nothing of this extension. */
export function hookAt(path: string): HookName | undefined {
  const [, ...parts] = path.split('/');
  const names: readonly HookName[] = ['Discovery', ...UPDATE_HOOKS];
  return names.find((hook) => {
    const own = hook === 'Discovery' ? [] : [handlerName(hook)];
    const expected = [...HOOKS_API_VERSION.split('/'), hook.toLowerCase(), ...own];
    return expected.join('/') === parts.slice(-expected.length).join('/');
  });
}

/** Reads a question. Undefined: it is not one. */
export function questionIn(
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet',
  body: unknown,
): Question | undefined {
  const [current, desired] = ['current', 'desired'].map((side) =>
    hook === 'CanUpdateMachine'
      ? machineIn(valueAt(body, side, 'machine'))
      : templateIn(valueAt(body, side, 'machineSet')),
  );
  return current && desired ? { current, desired } : undefined;
}

export function updateIn(body: unknown): UpdateRequest | undefined {
  const desired = machineIn(valueAt(body, 'desired', 'machine'));
  if (!desired) return undefined;
  return { desired, onFailure: textAt(body, 'settings', ON_FAILURE) === 'Fail' ? 'Fail' : 'Wait' };
}

function machineIn(object: unknown): AskedObject | undefined {
  const head = headOf(object);
  if (!head) return undefined;
  const [version, providerID] = [textAt(object, 'spec', 'version'), textAt(object, 'spec', 'providerID')];
  return { ...head, version, providerID, selector: undefined, replicas: 1 };
}

/** Reads a MachineSet, or a MachineDeployment, which has the same fields. */
export function templateIn(object: unknown): AskedObject | undefined {
  const head = headOf(object);
  if (!head) return undefined;
  const selector = valueAt(object, 'spec', 'selector');
  const replicas = valueAt(object, 'spec', 'replicas');
  return {
    ...head,
    version: textAt(object, 'spec', 'template', 'spec', 'version'),
    providerID: undefined,
    selector: { ...(isRecord(selector) ? selector : {}), all: false },
    replicas: typeof replicas === 'number' ? replicas : 1,
  };
}

function headOf(object: unknown): Pick<AskedObject, 'namespace' | 'name'> | undefined {
  const [namespace, name] = [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')];
  return namespace && name ? { namespace, name } : undefined;
}

function handlerName(hook: UpdateHook): string {
  return `kubenode-${hook.toLowerCase()}`;
}

export type HookResponse = Readonly<Record<string, unknown>> & { readonly status: 'Success' | 'Failure' };

export function discoveryAnswer(): HookResponse {
  const handlers = UPDATE_HOOKS.map((hook) => ({
    name: handlerName(hook),
    requestHook: { apiVersion: HOOKS_API_VERSION, hook },
    timeoutSeconds: TIMEOUT_SECONDS,
    // Ignored errors would count as "covers nothing", and replace machines.
    failurePolicy: 'Fail',
  }));
  return respond('Discovery', { status: 'Success', handlers });
}

/** `fields` is what is covered: undefined, nothing. Objects that are not named have no change that is covered. */
export function coverAnswer(
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet',
  version: string | undefined,
): HookResponse {
  if (version === undefined) return respond(hook, { status: 'Success' });
  const spec = { spec: { version } };
  const patch =
    hook === 'CanUpdateMachine'
      ? { machinePatch: mergePatch(spec) }
      : { machineSetPatch: mergePatch({ spec: { template: spec } }) };
  return respond(hook, { status: 'Success', ...patch });
}

export function failureAnswer(hook: HookName, message: string): HookResponse {
  return respond(hook, {
    status: 'Failure',
    message,
    ...(hook === 'UpdateMachine' ? { retryAfterSeconds: 0 } : {}),
  });
}

/** `retryAfterSeconds` 0: the update is complete. */
export function progressAnswer(message: string, retryAfterSeconds: number): HookResponse {
  return respond('UpdateMachine', { status: 'Success', message, retryAfterSeconds });
}

/** The contract has patches as bytes, which are base64 in JSON. */
function mergePatch(patch: object): object {
  return { patchType: 'JSONMergePatch', patch: btoa(JSON.stringify(patch)) };
}

function respond(hook: HookName, fields: HookResponse): HookResponse {
  return { apiVersion: HOOKS_API_VERSION, kind: `${hook}Response`, ...fields };
}
