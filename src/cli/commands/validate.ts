import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { GROUP } from '../../api/names.ts';
import { validate } from '../../api/validation/validate.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { type Manifest, readManifests } from '../../kube/objects/manifests.ts';
import { besideSchema } from '../../rules/report.ts';
import { type ConnectionFlags, connectFrom, connectionOptions } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import { endWith } from '../exit.ts';
import type { Io } from '../io.ts';
import { type Format, outputOption, print } from '../output.ts';
import { ruleProblems } from './sync/checks.ts';

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly object?: string;
  readonly field?: string;
  readonly message: string;
}

interface Report {
  readonly files: number;
  readonly objects: number;
  /** Kinds of other groups: only an API server can judge them. */
  readonly notOurs: number;
  readonly problems: readonly Finding[];
}

const HELP = `
Checks kinds of ${GROUP} against their schemas: every field, bound, pattern and enum. A NodeRemedier is compiled as well, and
the tests inside it are run. The rules between fields (CEL) are decided by the API server: --server asks one, by dry run, and
checks objects of other kinds as well.

Examples:
  kubenode validate machine.yaml
  kubenode validate clusters/ --server --context test`;

export function validateCommand(io: Io): Command {
  const command = new Command('validate')
    .description('check YAML or JSON files, or all of a folder, against the kinds')
    .argument('<path...>', 'files or folders (*.yaml, *.yml, *.json)')
    .option('--server', 'also ask an API server, by server-side dry run')
    .addOption(outputOption())
    .addHelpText('after', HELP);
  return connectionOptions(command).action(async (paths: string[], flags: ConnectionFlags & Flags) => {
    const report = await check(io, paths, flags);
    print(io, flags.output, report, () => ({
      columns: ['where', 'object', 'field', 'problem'],
      rows: report.problems.map(({ file, line, object, field, message }) => [
        `${file}:${line}`,
        object ?? '-',
        field ?? '-',
        message,
      ]),
      empty: summary(report),
    }));
    if (report.problems.length > 0) {
      if (flags.output === 'table') io.err(`${report.problems.length} problems; ${summary(report)}\n`);
      endWith(io, EXIT.badInput);
    }
  });
}

interface Flags {
  readonly server?: true;
  readonly output: Format;
}

function summary({ files, objects, notOurs }: Report): string {
  const foreign = notOurs > 0 ? `, ${notOurs} of other groups not checked (use --server)` : '';
  return `${objects} objects in ${files} files read${foreign}`;
}

async function check(io: Io, paths: readonly string[], flags: ConnectionFlags & Flags): Promise<Report> {
  const files = paths.flatMap((path) => filesIn(io, path));
  const client = flags.server ? await connectFrom(io, flags) : undefined;
  try {
    const results: FileResult[] = [];
    for (const file of files) results.push(await checkFile(io, file, client));
    return {
      files: files.length,
      objects: results.reduce((sum, { objects }) => sum + objects, 0),
      notOurs: results.reduce((sum, { notOurs }) => sum + notOurs, 0),
      problems: results.flatMap(({ problems }) => problems),
    };
  } finally {
    await client?.close();
  }
}

function filesIn(io: Io, path: string): string[] {
  const absolute = join(io.cwd, relative(io.cwd, path));
  const kind = statSync(absolute, { throwIfNoEntry: false });
  if (!kind) {
    throw new CliError('there is no such file or folder', {
      where: path,
      exitCode: EXIT.badInput,
      hint: 'check the path',
    });
  }
  if (!kind.isDirectory()) return [absolute];
  const found = readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ya?ml|json)$/.test(name) && !name.split('/').includes('node_modules'))
    .map((name) => join(absolute, name))
    .toSorted((a, b) => (a < b ? -1 : 1));
  if (found.length === 0) {
    throw new CliError('the folder holds no *.yaml, *.yml or *.json', {
      where: path,
      exitCode: EXIT.badInput,
      hint: 'name another folder',
    });
  }
  return found;
}

interface FileResult {
  readonly objects: number;
  readonly notOurs: number;
  readonly problems: readonly Finding[];
}

async function checkFile(io: Io, path: string, client: Client | undefined): Promise<FileResult> {
  const file = relative(io.cwd, path);
  const { manifests, problems } = readManifests(readFileSync(path, 'utf8'));
  const findings: Finding[] = problems.map((problem) => ({ file, ...problem }));
  let notOurs = 0;
  for (const manifest of manifests) {
    const ours = manifest.object.apiVersion.startsWith(`${GROUP}/`);
    if (ours) findings.push(...(await byKind(file, manifest)));
    else if (!client) notOurs += 1;
    if (client) findings.push(...(await byServer(file, manifest, client)));
  }
  return { objects: manifests.length, notOurs, problems: unique(findings) };
}

/** By the schema; and a NodeRemedier, which has its tests inside, is compiled, and they are run. */
async function byKind(file: string, manifest: Manifest): Promise<Finding[]> {
  const { object } = manifest;
  return besideSchema(await ruleProblems(object), validate(object)).map(({ path, message }) => ({
    file,
    line: manifest.lineOf(stepsOf(path)),
    object: nameOf(manifest),
    field: path,
    message,
  }));
}

/** The server says the same as the schema in other words: of two findings for one field the first is enough. */
function unique(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ line, object, field }) => {
    const key = `${line} ${object} ${field}`;
    if (field !== undefined && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

async function byServer(file: string, manifest: Manifest, client: Client): Promise<Finding[]> {
  const { object } = manifest;
  const at = (message: string, field?: string): Finding => ({
    file,
    line: manifest.lineOf(field ? stepsOf(field) : []),
    object: nameOf(manifest),
    ...(field ? { field } : {}),
    message,
  });
  try {
    const resource = await client.resourceFor(object.apiVersion, object.kind);
    await client.apply(resource, object, { fieldManager: 'kubenode-validate', dryRun: true, force: true });
    return [];
  } catch (error) {
    if (!isKubeError(error, 'Invalid', 'NotFound', 'Conflict', 'Forbidden')) throw error;
    if (error.causes.length === 0) return [at(error.message)];
    return error.causes.map(({ field, message }) => at(message ?? error.message, field));
  }
}

function nameOf({ object }: Manifest): string {
  return `${object.kind}/${object.metadata.name}`;
}

/** `spec.stages[0].name` as the steps into the object. */
export function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(?<index>\d+)\]|\["?(?<key>[^\]"]+)"?\]|(?<name>[^.[\]]+)/g)].map(
    ({ groups }) =>
      groups?.['index'] === undefined ? (groups?.['key'] ?? groups?.['name'] ?? '') : Number(groups['index']),
  );
}
