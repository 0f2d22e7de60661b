/** Computes what a version of a component makes of a path on a machine, as far as it is known outside of the host. Pure. */
import type { MachineComponentEntry, MachineComponentSpec } from '../../../../../api/generated/types.ts';
import { PLACEHOLDER } from '../../../../../api/machine/component-problems.ts';
import { ownValue } from '../../../../../kube/objects/json.ts';
import type { HostFile } from './kubeadm-files.ts';

/** Tells whether a version writes to the path in any way. */
export function writesPath({ files, artifacts }: MachineComponentSpec, path: string): boolean {
  const links = artifacts.flatMap(({ install }) => install.map(({ to }) => to));
  return files.some((file) => file.path === path) || links.includes(path);
}

/** Returns the file, or why what it would be is not known here. */
export function componentFile(
  spec: MachineComponentSpec,
  { parameters }: Pick<MachineComponentEntry, 'parameters'>,
  { path, machine }: { readonly path: string; readonly machine: string },
): HostFile | string {
  const file = spec.files.find((each) => each.path === path);
  const text = `${spec.component} ${spec.version}`;
  if (!file) return `${text} has no file ${path}`;
  if (file.merge !== 'Replace') return `${text} writes a part of ${path} only`;
  const values: Readonly<Record<string, string>> = {
    'machine.name': machine,
    ...Object.fromEntries(
      spec.parameters.map(({ name, default: usual = '' }) => [
        `param.${name}`,
        ownValue(parameters, name) ?? usual,
      ]),
    ),
  };
  const unknown = new Set<string>();
  const content = file.content.replaceAll(PLACEHOLDER, (whole: string, name: string) => {
    const value = ownValue(values, name);
    if (value === undefined) unknown.add(whole);
    return value ?? whole;
  });
  if (unknown.size > 0) return `${path} of ${text} has ${[...unknown].join(', ')}, which its host replaces`;
  return { content, mode: Number.parseInt(file.mode, 8), owner: file.owner };
}

export function isSameFile(a: HostFile, b: HostFile): boolean {
  return a.content === b.content && a.mode === b.mode && a.owner === b.owner;
}
