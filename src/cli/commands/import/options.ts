/** The options of `kubenode import`, and what they refuse together. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { objectNameReason } from '../../../api/validation/names.ts';
import { isSshError } from '../../../providers/ssh/errors.ts';
import type { ServerAddress } from '../../../providers/ssh/preflight/check.ts';
import { CHECK_NAMES } from '../../../providers/ssh/preflight/evaluate.ts';
import { parseTarget, type SshTarget, userReason } from '../../../providers/ssh/target.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { createIntegerParser, parseDuration } from '../../option-parsers.ts';
import { labelsReason } from './hosts/fields.ts';

export type ReportFormat = 'table' | 'json' | 'yaml';
export type MachineFormat = 'typescript' | 'json' | 'yaml';

export interface ImportFlags extends ConnectionFlags {
  readonly from?: string;
  readonly user: string;
  readonly port: number;
  readonly identity?: string;
  readonly passphraseFile?: string;
  readonly sudoPasswordFile?: string;
  readonly via?: SshTarget;
  readonly label?: Readonly<Record<string, string>>;
  readonly server?: ServerAddress;
  readonly skipCheck?: readonly string[];
  readonly secret: string;
  /** In seconds. */
  readonly timeout: number;
  readonly dryRun?: true;
  readonly apply?: true;
  readonly createSecret?: true;
  /** In seconds; false: not at all. */
  readonly wait: number | false;
  readonly output?: ReportFormat | MachineFormat;
}

const DEFAULT_TIMEOUT_SECONDS = 30;
/** Two hundred hosts take five minutes. */
const DEFAULT_WAIT_SECONDS = 600;

export function addImportOptions(command: Command): Command {
  command
    .option('--from <file>', 'hosts.yaml: a list of hosts with their keys, names, zones and labels')
    .addOption(new Option('-u, --user <name>', 'SSH user').default('root').argParser(parseUser))
    .option('-p, --port <n>', 'SSH port', createIntegerParser(1, 65_535), 22)
    .option('-i, --identity <file>', 'private key (default: the keys of the ssh-agent in $SSH_AUTH_SOCK)')
    .option('--passphrase-file <file>', 'file with the passphrase of the private key')
    .option('--sudo-password-file <file>', 'file with the password for sudo; needs pinned host keys')
    .option('--via <[user@]host[:port]>', 'jump host, for hosts that name no other in --from', parseVia)
    .option(
      '--label <key=value>',
      'label of the Machines and their Nodes; repeat it for several',
      collectLabel,
    )
    .option('--server <url>', 'API server as the hosts reach it (default: that of --kubeconfig)', parseServer)
    .option('--skip-check <name>', 'leave a check out; repeat it for several', collectCheck)
    .addOption(
      new Option('--secret <name>', 'Secret in kubenode-system with the private key, for the Machines')
        .default('ssh')
        .argParser(parseSecretName),
    )
    .option(
      '--timeout <duration>',
      'how long a host may take to connect, and its checks to run',
      parseDuration,
      DEFAULT_TIMEOUT_SECONDS,
    )
    .option('--dry-run', 'only check the hosts and print the report')
    .option('--apply', 'apply the Machines to the cluster, and follow them until they are Ready')
    .option('--create-secret', 'make the Secret of --secret in the cluster, from the files of this command')
    .option('--wait <duration>', 'with --apply: how long to follow', parseDuration, DEFAULT_WAIT_SECONDS)
    .option('--no-wait', 'with --apply: return as soon as the Machines are applied')
    .addOption(
      new Option(
        '-o, --output <format>',
        'table (with --dry-run) or typescript (without it) by default',
      ).choices(['table', 'typescript', 'json', 'yaml']),
    );
  return addConnectionOptions(command);
}

/** The limit of Machine.spec.import.skipChecks. */
const MAX_SKIPPED = 16;

/** Refuses options that would do nothing. */
export function checkFlags(hosts: readonly string[], flags: ImportFlags): void {
  const refusal = hostsRefusal(hosts, flags) ?? (flags.apply ? applyRefusal(flags) : printRefusal(flags));
  if (refusal === undefined) return;
  const [what, hint] = refusal;
  throw new CliError(what, { hint, exitCode: EXIT.usage });
}

type Refusal = readonly [what: string, hint: string];

function hostsRefusal(hosts: readonly string[], flags: ImportFlags): Refusal | undefined {
  if (hosts.length === 0 && flags.from === undefined) {
    return ['no host is given', 'name hosts, or a file with --from'];
  }
  if (flags.passphraseFile !== undefined && flags.identity === undefined) {
    return ['--passphrase-file is for a private key', 'add --identity FILE, or leave it out'];
  }
  if ((flags.skipCheck?.length ?? 0) <= MAX_SKIPPED) return undefined;
  return [`more than ${MAX_SKIPPED} checks are skipped`, 'fix some of them: a Machine takes no more'];
}

function applyRefusal({ dryRun, output }: ImportFlags): Refusal | undefined {
  if (dryRun) return ['--dry-run changes nothing', 'leave out --dry-run or --apply'];
  if (output === 'typescript' || output === 'yaml') {
    return ['--apply prints the progress, not Machines', 'use -o table or json'];
  }
  return undefined;
}

function printRefusal({ output, dryRun, createSecret }: ImportFlags): Refusal | undefined {
  if (createSecret && dryRun) return ['--dry-run changes nothing', 'leave out --dry-run or --create-secret'];
  if (output === 'table' && !dryRun) {
    return ['Machines are not printed as a table', 'add --dry-run, or use -o typescript or yaml'];
  }
  if (output === 'typescript' && dryRun) {
    return ['the report of --dry-run is not TypeScript', 'use -o table, json or yaml'];
  }
  return undefined;
}

function parseUser(text: string): string {
  const reason = userReason(text);
  if (reason === undefined) return text;
  throw new InvalidArgumentError(`${reason}, got ${JSON.stringify(text)}.`);
}

function parseSecretName(text: string): string {
  const reason = objectNameReason(text);
  if (reason === undefined) return text;
  throw new InvalidArgumentError(`${reason}, got ${JSON.stringify(text)}.`);
}

function parseVia(text: string): SshTarget {
  try {
    return parseTarget(text, { port: 22, user: 'root' });
  } catch (error) {
    if (isSshError(error)) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}

export function parseServer(text: string): ServerAddress {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.hostname === '') {
    throw new InvalidArgumentError(`Expected a URL that begins with https://, got ${JSON.stringify(text)}.`);
  }
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port === '' ? 443 : Number(url.port) };
}

function collectLabel(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [key = '', ...rest] = text.split('=');
  const label = { [key]: rest.join('=') };
  const reason = rest.length === 0 ? 'expected KEY=VALUE' : labelsReason(label);
  if (reason === undefined) return { ...before, ...label };
  throw new InvalidArgumentError(`${reason}, got ${JSON.stringify(text)}.`);
}

function collectCheck(text: string, before: readonly string[] = []): readonly string[] {
  const name = CHECK_NAMES.find((each) => each.toLowerCase() === text.toLowerCase());
  if (name !== undefined) return [...new Set([...before, name])];
  throw new InvalidArgumentError(`Expected one of ${CHECK_NAMES.join(', ')}.`);
}
