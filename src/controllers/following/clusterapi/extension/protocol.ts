/**
 * Reads the requests of the Runtime SDK of Cluster API: group hooks.runtime.cluster.x-k8s.io, version v1alpha1. A
 * request is checked no further than it is used. Pure.
 */
import { isRecord, textAt, valueAt } from '../../../../kube/objects/json.ts';
import type { LabelSelector } from '../../../../kube/objects/selector.ts';
import { BOOTSTRAP_PROVIDER_GROUP, KUBEADM_CONFIG, KUBEADM_CONFIG_TEMPLATE } from '../contract.ts';

export const HOOKS_API_VERSION = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
/** The hooks that are served. Cluster API finds them by discovery, and calls each at a path of its name in lower case. */
export const UPDATE_HOOKS = ['CanUpdateMachine', 'CanUpdateMachineSet', 'UpdateMachine'] as const;
export type UpdateHook = (typeof UPDATE_HOOKS)[number];
export type HookName = UpdateHook | 'Discovery';

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
  /** The spec of the KubeadmConfig, or of what its template makes. Undefined: it has none, or that of another provider. */
  readonly bootstrap?: unknown;
  /** The fields that no component covers, by their names for people. */
  readonly others?: Readonly<Record<string, unknown>>;
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
  const [current, desired] = ['current', 'desired'].map((side) => askedIn(hook, valueAt(body, side)));
  return current && desired ? { current, desired } : undefined;
}

function askedIn(hook: 'CanUpdateMachine' | 'CanUpdateMachineSet', side: unknown): AskedObject | undefined {
  const isMachine = hook === 'CanUpdateMachine';
  const asked = isMachine ? machineIn(valueAt(side, 'machine')) : templateIn(valueAt(side, 'machineSet'));
  const [config, infrastructure] = isMachine
    ? [valueAt(side, 'bootstrapConfig'), valueAt(side, 'infrastructureMachine')]
    : [valueAt(side, 'bootstrapConfigTemplate'), valueAt(side, 'infrastructureMachineTemplate')];
  return asked && withObjects(asked, { config, infrastructure });
}

/** Adds what the objects beside it ask for. A bootstrap config of another provider is compared as a whole. */
export function withObjects(
  asked: AskedObject,
  { config, infrastructure }: { readonly config: unknown; readonly infrastructure?: unknown },
): AskedObject {
  const path = asked.selector ? ['spec', 'template', 'spec'] : ['spec'];
  const spec = valueAt(config, ...path);
  const isKubeadm = isKubeadmConfig(config);
  const others = {
    ...asked.others,
    [`spec of the ${textAt(config, 'kind') ?? 'bootstrap config'}`]: isKubeadm ? withoutFiles(spec) : spec,
    [`spec of the ${textAt(infrastructure, 'kind') ?? 'infrastructure'}`]: valueAt(infrastructure, ...path),
  };
  return { ...asked, others, ...(isKubeadm ? { bootstrap: spec } : {}) };
}

function withoutFiles(spec: unknown): unknown {
  if (!isRecord(spec)) return spec;
  const { files: _files, ...rest } = spec;
  return rest;
}

function isKubeadmConfig(config: unknown): boolean {
  const [group] = textAt(config, 'apiVersion')?.split('/') ?? [];
  const kinds: readonly (string | undefined)[] = [KUBEADM_CONFIG, KUBEADM_CONFIG_TEMPLATE];
  return group === BOOTSTRAP_PROVIDER_GROUP && kinds.includes(textAt(config, 'kind'));
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
  const others = { 'spec.failureDomain': valueAt(object, 'spec', 'failureDomain') };
  return { ...head, version, providerID, selector: undefined, replicas: 1, others };
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
    others: { 'spec.failureDomain': valueAt(object, 'spec', 'template', 'spec', 'failureDomain') },
  };
}

function headOf(object: unknown): Pick<AskedObject, 'namespace' | 'name'> | undefined {
  const [namespace, name] = [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')];
  return namespace && name ? { namespace, name } : undefined;
}

/** Cluster API builds the path of a hook from the name of its handler. */
export function handlerName(hook: UpdateHook): string {
  return `kubenode-${hook.toLowerCase()}`;
}
