import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { inactiveFields } from '../../api/inactive/find.ts';
import { GROUP, MANAGER_SYNC, PRINCIPAL_SYNC } from '../../api/names.ts';
import { POLICY_TESTS_FOLDER } from '../../api/validation/policy-tests.ts';
import { type Problem, validate } from '../../api/validation/validate.ts';
import { readUserName } from '../../kube/auth/self-review.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { type Manifest, readManifests } from '../../kube/objects/manifests.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { mergeProblems } from '../../rules/problems.ts';
import { createRenderer } from '../../sync/render/renderer.ts';
import { formatCount } from '../../views/text/counts.ts';
import { findPolicyProblems, findRuleProblems } from '../checks/commit-checks.ts';
import { type CheckComponent, createComponentCheck } from '../checks/component-checks.ts';
import { splitFieldPath } from '../checks/field-path.ts';
import { findPolicyTests, runPolicyTests } from '../checks/policy-tests.ts';
import { addConnectionOptions, type ConnectionFlags } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import { setExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { createOutputOption, type OutputFormat, printResult, printWarnings } from '../output.ts';
import { connectOptionsFor } from '../principal.ts';

interface ValidationFinding {
  readonly file: string;
  readonly line: number;
  readonly object?: string;
  readonly field?: string;
  readonly message: string;
}

interface ValidationReport {
  readonly files: number;
  readonly objects: number;
  /** Objects of other groups: only an API server can validate them. */
  readonly notOurs: number;
  readonly policyTests: number;
  /** Valid MachineComponents, with the digest by which a Machine names them. */
  readonly components: readonly ComponentDigest[];
  readonly problems: readonly ValidationFinding[];
}

interface ComponentDigest {
  readonly file: string;
  readonly name: string;
  readonly digest: string;
}

const HELP = `
Validates objects of ${GROUP} against their schemas: fields, bounds, patterns and enums. A NodeRemedier is also compiled,
and the tests inside it are run. In a MachineComponent, unknown placeholders are refused, and its digest is
printed: the one that Machine.spec.components[].digest names. A field that this version does not act on is refused. Rules between fields (CEL) are evaluated only by an API server: --server asks one, by
server-side dry run as kubenode-sync, as sync will write them, and validates objects of other groups as well.

In a fleet repository, the tests of its DefenderPolicies (${POLICY_TESTS_FOLDER}/*.ts) are run too. Their code is isolated as a render is.

Examples:
  kubenode validate machine.yaml
  kubenode validate clusters/ --server --context test
  kubenode validate rules        the tests of the policies`;

export function createValidateCommand(io: Io): Command {
  const command = new Command('validate')
    .description('validate YAML or JSON files against the kinds of kubenode')
    .argument('<path...>', 'files, or folders with *.yaml, *.yml and *.json files')
    .option('--server', 'also validate by server-side dry run on an API server')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (paths: string[], flags: ConnectionFlags & Flags) => {
    const report = await validateFiles(io, paths, flags);
    printResult(io, flags.output, report, () => ({
      columns: ['where', 'object', 'field', 'problem'],
      rows: report.problems.map(({ file, line, object, field, message }) => [
        `${file}:${line}`,
        object ?? '-',
        field ?? '-',
        message,
      ]),
      empty: summary(report),
    }));
    if (report.problems.length === 0 && flags.output === 'table') {
      for (const each of report.components) io.out(digestLine(each));
    }
    if (report.problems.length > 0) {
      if (flags.output === 'table') {
        io.err(`${formatCount(report.problems.length, 'problem')}; ${summary(report)}\n`);
      }
      setExitCode(io, EXIT.badInput);
    }
  });
}

interface Flags {
  readonly server?: true;
  readonly output: OutputFormat;
}

function digestLine({ name, digest }: ComponentDigest): string {
  return `digest of ${printableLine(name)}: ${digest}\n`;
}

function summary({ files, objects, notOurs, policyTests }: ValidationReport): string {
  const unchecked = notOurs > 0 ? `, ${notOurs} of other groups not checked (use --server)` : '';
  const tests = policyTests > 0 ? `, ${formatCount(policyTests, 'policy test')} run` : '';
  return `${formatCount(objects, 'object')} in ${formatCount(files, 'file')} read${unchecked}${tests}`;
}

async function validateFiles(
  io: Io,
  paths: readonly string[],
  flags: ConnectionFlags & Flags,
): Promise<ValidationReport> {
  for (const path of paths) refuseLink(io, path);
  const tests = await testPolicies(io, paths);
  const files = paths.flatMap((path) => filesIn(io, path, tests.places));
  const client = flags.server ? await connectAsSync(io, flags) : undefined;
  try {
    const results: FileResult[] = [];
    const checks = { client, component: createComponentCheck() };
    for (const file of files) results.push(await checkFile(io, file, checks));
    return {
      files: files.length,
      objects: results.reduce((sum, { objects }) => sum + objects, 0),
      notOurs: results.reduce((sum, { notOurs }) => sum + notOurs, 0),
      policyTests: tests.count,
      components: results.flatMap(({ components }) => components),
      problems: [...results.flatMap(({ problems }) => problems), ...tests.findings],
    };
  } finally {
    await client?.close();
  }
}

/** Sync will write the objects, so its permissions and the policies for it decide, not those of the caller. */
async function connectAsSync(io: Io, flags: ConnectionFlags): Promise<Client> {
  const client = await connect(await connectOptionsFor(io, flags, PRINCIPAL_SYNC));
  try {
    // Fails here, once, when the person may not act as sync.
    await readUserName(client, io.signal);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

interface TestedPolicies {
  /** The paths that have tests of policies. */
  readonly places: readonly string[];
  readonly count: number;
  readonly findings: readonly ValidationFinding[];
}

async function testPolicies(io: Io, paths: readonly string[]): Promise<TestedPolicies> {
  const renderer = createRenderer();
  const found: TestedPolicies[] = [];
  for (const path of paths) {
    const place = await findPolicyTests(resolve(io.cwd, path));
    if (!place) continue;
    const { count, failures } = await runPolicyTests(renderer, { ...place, signal: io.signal }, place.file);
    const findings = failures.map(({ file = '', line = 1, message }) => ({
      file: relative(io.cwd, join(place.folder, file)),
      line,
      message,
    }));
    found.push({ places: [path], count, findings });
  }
  return {
    places: found.flatMap(({ places }) => places),
    count: found.reduce((sum, { count }) => sum + count, 0),
    findings: found.flatMap(({ findings }) => findings),
  };
}

/** A pull request may contain a link to a file of the machine that validates it, and each problem quotes what it is about. */
function refuseLink(io: Io, path: string): void {
  if (!lstatSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new CliError('symbolic links are not followed', {
    where: path,
    exitCode: EXIT.badInput,
    hint: 'pass what it points to',
  });
}

interface FolderContent {
  readonly found: string[];
  readonly links: string[];
}

/** Not by a recursive readdir of Node, which enters links. */
function manifestsBelow(folder: string, content: FolderContent = { found: [], links: [] }): FolderContent {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => byCode(a.name, b.name))) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) content.links.push(path);
    else if (entry.isDirectory() && entry.name !== 'node_modules') manifestsBelow(path, content);
    else if (entry.isFile() && /\.(ya?ml|json)$/.test(entry.name)) content.found.push(path);
  }
  return content;
}

function filesIn(io: Io, path: string, tested: readonly string[]): string[] {
  const absolute = resolve(io.cwd, path);
  const kind = lstatSync(absolute, { throwIfNoEntry: false });
  if (!kind) {
    throw new CliError('file or folder not found', {
      where: path,
      exitCode: EXIT.badInput,
      hint: 'check the path',
    });
  }
  const hasTests = tested.includes(path);
  if (!kind.isDirectory()) return hasTests ? [] : [absolute];
  const { found, links } = manifestsBelow(absolute);
  printWarnings(
    io,
    links.map((link) => `${relative(io.cwd, link)} was skipped: a symbolic link`),
  );
  if (found.length === 0 && !hasTests) {
    throw new CliError('the folder contains no *.yaml, *.yml or *.json file', {
      where: path,
      exitCode: EXIT.badInput,
      hint: 'pass another folder',
    });
  }
  return found;
}

interface FileResult {
  readonly objects: number;
  readonly notOurs: number;
  readonly components: readonly ComponentDigest[];
  readonly problems: readonly ValidationFinding[];
}

interface FileChecks {
  readonly client: Client | undefined;
  readonly component: CheckComponent;
}

async function checkFile(io: Io, path: string, { client, component }: FileChecks): Promise<FileResult> {
  const file = relative(io.cwd, path);
  const { manifests, problems } = readManifests(readFileSync(path, 'utf8'));
  const findings: ValidationFinding[] = problems.map((problem) => ({ file, ...problem }));
  const components: ComponentDigest[] = [];
  let notOurs = 0;
  for (const manifest of manifests) {
    const ours = manifest.object.apiVersion.startsWith(`${GROUP}/`);
    const checked = component(manifest.object);
    if (checked?.problems.length === 0) {
      components.push({ file, name: manifest.object.metadata.name, digest: checked.digest });
    }
    if (ours) findings.push(...(await checkBySchema(file, manifest, checked?.problems)));
    else if (!client) notOurs += 1;
    if (client) findings.push(...(await checkByServer(file, manifest, client)));
  }
  return { objects: manifests.length, notOurs, components, problems: dropRepeatedFindings(findings) };
}

/** Validates against the schema; compiles a NodeRemedier and runs the tests inside it; names fields that this version does not act on. */
async function checkBySchema(
  file: string,
  manifest: Manifest,
  more: readonly Problem[] = [],
): Promise<ValidationFinding[]> {
  const { object } = manifest;
  return mergeProblems(
    [...(await findRuleProblems(object)), ...findPolicyProblems(object), ...inactiveFields(object), ...more],
    validate(object),
  ).map(({ path, message }) => ({
    file,
    line: manifest.lineOf(splitFieldPath(path)),
    object: objectName(manifest),
    field: path,
    message,
  }));
}

/** Server and schema report the same problem in different words: keeps the first finding for each field. */
function dropRepeatedFindings(findings: readonly ValidationFinding[]): ValidationFinding[] {
  const keys = new Set<string>();
  return findings.filter(({ line, object, field }) => {
    const key = `${line} ${object} ${field}`;
    if (field !== undefined && keys.has(key)) return false;
    keys.add(key);
    return true;
  });
}

async function checkByServer(file: string, manifest: Manifest, client: Client): Promise<ValidationFinding[]> {
  const { object } = manifest;
  const findingAt = (message: string, field?: string): ValidationFinding => ({
    file,
    line: manifest.lineOf(field ? splitFieldPath(field) : []),
    object: objectName(manifest),
    ...(field ? { field } : {}),
    message,
  });
  try {
    const resource = await client.resourceFor(object.apiVersion, object.kind);
    await client.apply(resource, object, { fieldManager: MANAGER_SYNC, dryRun: true, force: true });
    return [];
  } catch (error) {
    if (!isKubeError(error, 'Invalid', 'NotFound', 'Conflict', 'Forbidden')) throw error;
    if (error.causes.length === 0) return [findingAt(error.message)];
    return error.causes.map(({ field, message }) => findingAt(message ?? error.message, field));
  }
}

function objectName({ object }: Manifest): string {
  return `${object.kind}/${object.metadata.name}`;
}
