/**
 * Finds what is wrong with a MachineComponent on every machine: placeholders that no agent replaces, and entries of one version that
 * exclude each other. Pure. No npm package here: the agent shares this file.
 */
import { isOciUrl, OCI_URL_FORM, parseOciUrl } from '../../os/oci/reference.ts';
import type { MachineComponentSpec } from '../generated/types.ts';
import { replaceTemplates } from './component-templates.ts';

export interface ComponentProblem {
  readonly path: string;
  readonly message: string;
}

export const PLACEHOLDER = /\$\{([a-z]+(?:\.[A-Za-z0-9-]+)?)\}/g;

export function componentProblems(spec: MachineComponentSpec): readonly ComponentProblem[] {
  return [
    ...findUnknownPlaceholders(spec),
    ...portConflicts(spec),
    ...pathConflicts(spec),
    ...badReferences(spec),
  ];
}

export function findUnknownPlaceholders(spec: MachineComponentSpec): readonly ComponentProblem[] {
  const names = placeholderNames(spec);
  const known = names.map((name) => `\${${name}}`);
  const found: ComponentProblem[] = [];
  replaceTemplates(spec, (text, path) => {
    const used = [...text.matchAll(PLACEHOLDER)].map(([whole]) => whole);
    const unknown = new Set(used.filter((placeholder) => !known.includes(placeholder)));
    if (unknown.size > 0) found.push({ path, message: unknownText({ unknown, known }) });
    return text;
  });
  return found;
}

/** Returns the names of the placeholders that an agent replaces, on any machine. */
export function placeholderNames({
  identity,
  parameters,
  ports,
}: Pick<MachineComponentSpec, 'identity' | 'parameters' | 'ports'>): readonly string[] {
  return [
    'dir',
    'data',
    'machine.name',
    'machine.address',
    'machine.zone',
    'cluster.server',
    'cluster.caFile',
    ...(identity === 'Kubelet' ? ['identity.kubeconfig'] : []),
    ...parameters.map(({ name }) => `param.${name}`),
    ...ports.map(({ name }) => `port.${name}`),
  ];
}

export function unknownText(
  { unknown, known }: { readonly unknown: ReadonlySet<string>; readonly known: readonly string[] },
  where = '',
): string {
  return `unknown placeholder ${[...unknown].join(', ')}${where}: known are ${known.join(', ')}`;
}

function portConflicts({ ports }: MachineComponentSpec): readonly ComponentProblem[] {
  return ports.flatMap(({ port }, index) => {
    const first = ports.findIndex((other) => other.port === port);
    if (first === index) return [];
    return [{ path: `spec.ports[${index}].port`, message: `is also the port of ${ports[first]?.name}` }];
  });
}

/** Finds URLs that begin as those of a registry and name no repository in one. */
function badReferences({ artifacts }: MachineComponentSpec): readonly ComponentProblem[] {
  return artifacts.flatMap(({ url, mirrors }, artifact) =>
    [url, ...mirrors].flatMap((each, index) => {
      if (!isOciUrl(each) || parseOciUrl(each)) return [];
      const field = index === 0 ? 'url' : `mirrors[${index - 1}]`;
      return [
        { path: `spec.artifacts[${artifact}].${field}`, message: `expected ${OCI_URL_FORM}, got ${each}` },
      ];
    }),
  );
}

/** Finds paths that are used twice. Files and links of one platform are on the host together. */
function pathConflicts({ files, artifacts }: MachineComponentSpec): readonly ComponentProblem[] {
  const paths = files.map(({ path }) => path);
  return artifacts.flatMap(({ install }, artifact) =>
    install.flatMap(({ to }, index) => {
      const isTaken = paths.includes(to) || install.findIndex((other) => other.to === to) < index;
      if (!isTaken) return [];
      const path = `spec.artifacts[${artifact}].install[${index}].to`;
      return [{ path, message: `${to} is also the path of a file or of another link` }];
    }),
  );
}
