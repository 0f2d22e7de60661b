/** Machines whose component `runtime` writes files of a KubeadmConfig, with the rules of component sets. */
import type {
  Machine,
  MachineComponent,
  MachineComponentSpec,
} from '../../../../../../src/api/generated/types.ts';
import {
  ANNOTATION_BOOTSTRAP,
  ANNOTATION_YANKED,
  MANAGER_COMPONENTSET,
} from '../../../../../../src/api/names.ts';
import { createEntryRules } from '../../../../../../src/controllers/clusterapi-extension.ts';
import { bootstrapFiles } from '../../../../../../src/controllers/following/clusterapi/extension/files/kubeadm-files.ts';
import {
  fileDigests,
  nextRecord,
} from '../../../../../../src/controllers/following/clusterapi/extension/files/record.ts';
import type { EntryRules } from '../../../../../../src/controllers/following/clusterapi/extension/kubelet-version.ts';
import type { AskedObject } from '../../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { digestOf } from '../../../../../../src/kube/objects/digest.ts';
import { componentSpec } from '../../../../../support/agent/component-spec.ts';
import { agentFile } from '../../../../../support/agent/targets.ts';
import type { MachineParts } from '../../../../../support/builders.ts';
import { asked, ownedBy, updatable } from '../facts.ts';

export const FILE = '/etc/runtime/config.toml';
export const OTHER_FILE = '/etc/runtime/hosts.toml';
export const FROM = 'v1.34.1';
export const TO = 'v1.34.2';

export function componentOf(
  component: string,
  version: string,
  fields: Partial<MachineComponentSpec> = {},
): MachineComponent {
  const name = `${component}-${version}`;
  const spec = componentSpec('any', { component, version, files: [], ...fields });
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineComponent', metadata: { name }, spec };
}

/** `runtime` of this version, with the content of FILE. */
export function runtime(
  version: string,
  content: string,
  fields: Partial<MachineComponentSpec> = {},
): MachineComponent {
  return componentOf('runtime', version, { files: [agentFile(FILE, content)], ...fields });
}

export function yanked(component: MachineComponent): MachineComponent {
  const { metadata } = component;
  return { ...component, metadata: { ...metadata, annotations: { [ANNOTATION_YANKED]: 'broken' } } };
}

export const RUNTIMES = [runtime('1', 'a = 1\n'), runtime('2', 'a = 2\n')] as const;
export const KUBELETS = ['1.34.1', '1.34.2'].map((version) => componentOf('kubelet', version));
export const COMPONENTS: readonly MachineComponent[] = [...RUNTIMES, ...KUBELETS];

export function rulesOf(components: readonly MachineComponent[] = COMPONENTS): EntryRules {
  return createEntryRules(components, { state: 'Known', versions: ['v1.34.5'] });
}

export function entryFor({
  metadata: { name },
  spec,
}: MachineComponent): Machine['spec']['components'][number] {
  const { component } = spec;
  return { name: component, componentRef: name, digest: digestOf(spec), state: 'Present', parameters: {} };
}

/** A KubeadmConfig whose entry for FILE has this content. */
export function configOf(content: string, more: readonly object[] = [], rest: object = {}): object {
  return { ...rest, files: [{ path: FILE, content }, ...more] };
}

export interface FileMachineParts {
  readonly components?: readonly MachineComponent[];
  /** The config of its record; undefined: it has none. */
  readonly config?: object | undefined;
  /** Who has assigned its components. */
  readonly owner?: string;
  readonly status?: MachineParts['status'];
}

/** `node-N` with kubelet 1.34.1 and the first runtime, which a set has assigned. */
export function fileMachine(n: number, { config, status, ...parts }: FileMachineParts = {}): Machine {
  const { components = [RUNTIMES[0], KUBELETS[0] as MachineComponent], owner = MANAGER_COMPONENTSET } = parts;
  const { metadata } = updatable(n);
  const owners = ['runtime', 'files'].map((name) => ownedBy(owner, name));
  return updatable(n, {
    metadata: {
      ...metadata,
      generation: 1,
      managedFields: [...(metadata.managedFields ?? []), ...owners],
      ...(config ? { annotations: { [ANNOTATION_BOOTSTRAP]: recordOf(config) } } : {}),
    },
    spec: { components: components.map(entryFor) },
    ...(status ? { status } : {}),
  });
}

function recordOf(config: object): string {
  const files = fileDigests(bootstrapFiles(config));
  return nextRecord(undefined, { version: FROM, files, isUpdating: false }) ?? '';
}

export function askedFor(
  config: object | undefined,
  version = FROM,
  changes: Partial<AskedObject> = {},
): AskedObject {
  return asked(1, version, { ...(config ? { bootstrap: config } : {}), ...changes });
}
