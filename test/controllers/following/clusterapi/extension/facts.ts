/** Machines of kubenode beside those of Cluster API, with an agent and a kubelet that a set has assigned, and rules that permit everything. */
import type { Machine, MachineComponentSpec } from '../../../../../src/api/generated/types.ts';
import { MANAGER_COMPONENTSET } from '../../../../../src/api/names.ts';
import type { EntryRules } from '../../../../../src/controllers/following/clusterapi/extension/kubelet-version.ts';
import type { UpdateFacts } from '../../../../../src/controllers/following/clusterapi/extension/machines.ts';
import type { AskedObject } from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { type ComponentVersion, component, type MachineParts, NOW } from '../../../../support/builders.ts';
import { ours } from '../objects.ts';

export const OLD = component('kubelet', '1.34.1');
export const NEW = component('kubelet', '1.34.2');

export function entryOf(version: ComponentVersion): Machine['spec']['components'][number] {
  return { ...version, state: 'Present', parameters: {} };
}

export function ownedBy(
  manager: string,
  name = 'kubelet',
): NonNullable<Machine['metadata']['managedFields']>[number] {
  const key = `k:${JSON.stringify({ name })}`;
  const fieldsV1 = { 'f:spec': { 'f:components': { [key]: { 'f:componentRef': {} } } } };
  return { manager, operation: 'Apply', fieldsV1 };
}

/** `node-N` beside `md-N`, in the pool general. */
export function updatable(n: number, { metadata, spec, status }: MachineParts = {}): Machine {
  const base = ours(n);
  return {
    ...base,
    metadata: {
      ...base.metadata,
      managedFields: [...(base.metadata.managedFields ?? []), ownedBy(MANAGER_COMPONENTSET)],
      ...metadata,
    },
    spec: { ...base.spec, components: [entryOf(OLD)], ...spec },
    status: {
      ...base.status,
      conditions: base.status?.conditions ?? [],
      agent: { observedGeneration: 1 },
      ...status,
    },
  };
}

export function rules(changes: Partial<EntryRules> = {}): EntryRules {
  const versions = [OLD, NEW];
  return {
    specOf: (ref) =>
      versions.some(({ componentRef }) => componentRef === ref)
        ? ({
            component: 'kubelet',
            identity: 'Kubelet',
            parameters: [],
            files: [],
            artifacts: [],
          } as unknown as MachineComponentSpec)
        : undefined,
    versionsOf: (name) =>
      versions.map(({ componentRef }) => componentRef).filter((ref) => ref.startsWith(`${name}-`)),
    resolve: ({ name, componentRef, parameters }) => {
      const { digest } = component(name, componentRef.slice(name.length + 1));
      return { name, componentRef, digest, state: 'Present', parameters };
    },
    forbiddenReason: () => undefined,
    ...changes,
  };
}

export function facts(machines: readonly Machine[], changes: Partial<UpdateFacts> = {}): UpdateFacts {
  return { machines, nodeOf: () => undefined, rules: rules(), now: NOW, ...changes };
}

export function asked(
  n: number,
  version: string | undefined,
  changes: Partial<AskedObject> = {},
): AskedObject {
  return {
    namespace: 'fleet',
    name: `md-${n}`,
    version,
    providerID: `inst://${n}`,
    selector: undefined,
    replicas: 1,
    ...changes,
  };
}
