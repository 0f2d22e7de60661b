/** The fields of a MachineComponent in which placeholders are replaced. Pure. */
import type {
  ComponentFile,
  ComponentProbe,
  ComponentUnit,
  MachineComponentSpec,
} from '../generated/types.ts';

/** `path` is that of the field, such as `spec.files[0].content`. */
export type ReplaceTemplate = (text: string, path: string) => string;

export interface Templates {
  readonly files: readonly ComponentFile[];
  readonly units: readonly ComponentUnit[];
  readonly probes: readonly ComponentProbe[];
}

export function replaceTemplates(
  { files, units, probes }: Pick<MachineComponentSpec, keyof Templates>,
  replace: ReplaceTemplate,
): Templates {
  return {
    files: files.map((file, index) => ({
      ...file,
      content: replace(file.content, `spec.files[${index}].content`),
    })),
    units: units.map((unit, index) => replaceInUnit(unit, within(`spec.units[${index}]`, replace))),
    probes: probes.map((probe, index) => replaceInProbe(probe, within(`spec.probes[${index}]`, replace))),
  };
}

function within(parent: string, replace: ReplaceTemplate): ReplaceTemplate {
  return (text, path) => replace(text, `${parent}.${path}`);
}

function replaceInUnit(unit: ComponentUnit, replace: ReplaceTemplate): ComponentUnit {
  const { exec, reload } = unit;
  return {
    ...unit,
    ...(exec && { exec: replaceInExec(exec, within('exec', replace)) }),
    ...(reload?.argv && {
      reload: { ...reload, argv: replaceList(reload.argv, 'argv', within('reload', replace)) },
    }),
    dropIns: unit.dropIns.map((dropIn, index) => ({
      ...dropIn,
      content: replace(dropIn.content, `dropIns[${index}].content`),
    })),
    ...(unit.raw !== undefined && { raw: replace(unit.raw, 'raw') }),
  };
}

function replaceInExec(
  exec: NonNullable<ComponentUnit['exec']>,
  replace: ReplaceTemplate,
): NonNullable<ComponentUnit['exec']> {
  const env = Object.entries(exec.env).map(([name, value]) => [name, replace(value, `env.${name}`)] as const);
  return {
    ...exec,
    argv: replaceList(exec.argv, 'argv', replace),
    env: Object.fromEntries(env),
    ...(exec.workingDirectory !== undefined && {
      workingDirectory: replace(exec.workingDirectory, 'workingDirectory'),
    }),
  };
}

function replaceInProbe(probe: ComponentProbe, replace: ReplaceTemplate): ComponentProbe {
  const { exec, socket, grpc, http } = probe;
  return {
    ...probe,
    ...(exec && { exec: { argv: replaceList(exec.argv, 'exec.argv', replace) } }),
    ...(socket && { socket: { path: replace(socket.path, 'socket.path') } }),
    ...(grpc?.path !== undefined && { grpc: { ...grpc, path: replace(grpc.path, 'grpc.path') } }),
    ...(http && { http: { ...http, path: replace(http.path, 'http.path') } }),
  };
}

function replaceList(texts: readonly string[], path: string, replace: ReplaceTemplate): readonly string[] {
  return texts.map((text, index) => replace(text, `${path}[${index}]`));
}
