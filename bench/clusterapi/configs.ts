/** KubeadmConfigs and components of a fleet: twenty files of 64 KiB together, some of which a component writes, in several versions. */
import { digestOf } from '../../src/kube/objects/digest.ts';
import { componentSpec } from '../../test/support/agent/component-spec.ts';
import { agentFile } from '../../test/support/agent/targets.ts';

const FILES = 20;
/** As many files are those of the component; the others are of the image or of cloud-init alone. */
const OWN_FILES = 10;
const FILE_BYTES = (64 * 1024) / FILES;
/** Versions of each component that are kept in the cluster. */
export const CONFIG_VERSIONS = 20;
const KUBELET_VERSIONS = 10;

export const KUBELET = 'kubelet';
export const CONFIG = 'host-config';
export const FROM = { kubelet: '1.36.1', config: '1' } as const;
export const TO = { kubelet: '1.36.2', config: '2' } as const;

export interface DeclaredComponent {
  readonly name: string;
  readonly spec: ReturnType<typeof componentSpec>;
}

function pathOf(index: number): string {
  return `/etc/fleet.d/part-${String(index).padStart(2, '0')}.conf`;
}

/** Lines like those of a configuration. Each version changes one file of the component, and keeps what earlier ones changed. */
function contentOf(index: number, version: string): string {
  const head = `# part ${index}, changed in version ${lastChange(index, Number(version))}\n`;
  const line = `option-${index} = "a value of the usual length" # and a comment\n`;
  return head + line.repeat(Math.ceil((FILE_BYTES - head.length) / line.length));
}

/** Version 2 changes the first file, and version 12 changes it again. */
function lastChange(index: number, version: number): number {
  if (index >= OWN_FILES) return 1;
  const changes = Array.from({ length: Math.max(0, version - 1) }, (_, before) => before + 2);
  return changes.findLast((each) => (each - 2) % OWN_FILES === index) ?? 1;
}

/** The spec of a KubeadmConfig whose files are those of this version of the component. */
export function configSpec(version: string): object {
  const files = Array.from({ length: FILES }, (_, index) => ({
    path: pathOf(index),
    content: contentOf(index, version),
    permissions: '0644',
  }));
  const kubeletExtraArgs = [{ name: 'v', value: '2' }];
  return { joinConfiguration: { nodeRegistration: { kubeletExtraArgs } }, files };
}

export function declaredComponents(): readonly DeclaredComponent[] {
  const kubelets = Array.from({ length: KUBELET_VERSIONS }, (_, index) =>
    declared(KUBELET, `1.36.${index}`, []),
  );
  const configs = Array.from({ length: CONFIG_VERSIONS }, (_, index) => {
    const version = String(index + 1);
    const files = Array.from({ length: OWN_FILES }, (__, file) =>
      agentFile(pathOf(file), contentOf(file, version)),
    );
    return declared(CONFIG, version, files);
  });
  return [...kubelets, ...configs];
}

/** The same unit in each version, so that only the files differ. */
function declared(
  component: string,
  version: string,
  files: DeclaredComponent['spec']['files'],
): DeclaredComponent {
  const exec = { argv: [`/usr/bin/${component}`], env: {}, user: 'root' };
  const units = componentSpec('any').units.map((unit) => ({ ...unit, name: component, exec }));
  const spec = componentSpec('any', { component, version, files, units, artifacts: [] });
  return { name: `${component}-${version}`, spec };
}

/** The entry with which a machine has this version. */
export function entryOf({ name, spec }: DeclaredComponent): object {
  return {
    name: spec.component,
    componentRef: name,
    digest: digestOf(spec),
    state: 'Present',
    parameters: {},
  };
}
