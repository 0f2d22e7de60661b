/** Builds the files of a unit: its definition and its drop-ins, as systemd reads them. Pure. */
import type { UnitDefinition } from '../port.ts';

export interface UnitFile {
  readonly path: string;
  readonly content: string;
}

export const SYSTEMD_DIRECTORY = '/etc/systemd/system';
/** The directory with the links to the units that start at boot. */
export const WANTS_DIRECTORY = `${SYSTEMD_DIRECTORY}/multi-user.target.wants`;
/** The first line of each file that we write: what has another one is not ours. */
const HEADER = '# Written by the kubenode agent, which overwrites changes.\n';
/** The drop-in that defines how a unit that is not made from exec reloads. */
const RELOAD_DROP_IN = 'kubenode-reload';

export function unitName(name: string): string {
  return `${name}.service`;
}

export function definitionFile(name: string): string {
  return `${SYSTEMD_DIRECTORY}/${unitName(name)}`;
}

export function dropInDirectory(name: string): string {
  return `${definitionFile(name)}.d`;
}

export function hasAgentHeader(content: Uint8Array | undefined): boolean {
  return content !== undefined && new TextDecoder().decode(content).startsWith(HEADER);
}

/** Returns the text of a definition without our header, so that two can be compared. */
export function withoutHeader(content: string): string {
  return (content.startsWith(HEADER) ? content.slice(HEADER.length) : content).trim();
}

/** Returns the files that `write` writes. A unit that the host has gets drop-ins only. */
export function unitFiles(unit: UnitDefinition): readonly UnitFile[] {
  const { name, raw, exec } = unit;
  const text = exec ? execText(unit, exec) : raw;
  const definition = text === undefined ? [] : [{ path: definitionFile(name), content: text }];
  return [...definition, ...dropIns(unit)].map(({ path, content }) => ({
    path,
    content: `${HEADER}${content.endsWith('\n') ? content : `${content}\n`}`,
  }));
}

function dropIns(unit: UnitDefinition): readonly UnitFile[] {
  const reload = unit.exec ? undefined : reloadCommand(unit);
  // An empty assignment removes the command of the unit itself.
  const ours =
    reload === undefined ? [] : [{ name: RELOAD_DROP_IN, content: `[Service]\nExecReload=\n${reload}\n` }];
  return [...unit.dropIns, ...ours].map(({ name, content }) => ({
    path: `${dropInDirectory(unit.name)}/${name}.conf`,
    content,
  }));
}

const RESTART = { Always: 'always', OnFailure: 'on-failure', Never: 'no' } as const;
/**
 * The exit codes of systemd itself: the directory, the program or the user does not exist. Starting again cannot help, and would hide the
 * failure behind the state Activating.
 */
const NOT_STARTABLE = '200 203 217';

function execText(unit: UnitDefinition, exec: NonNullable<UnitDefinition['exec']>): string {
  const { name, component, type } = unit;
  const reload = reloadCommand(unit);
  return [
    '[Unit]',
    `Description=${name} (kubenode component ${component})`,
    'After=network.target',
    ...startLimit(unit),
    '',
    '[Service]',
    ...(type === 'OneShot' ? oneShotLines(unit) : serviceLines(unit)),
    `ExecStart=${exec.argv.map(quoteArgument).join(' ')}`,
    ...(reload === undefined ? [] : [reload]),
    ...Object.entries(exec.env).map(([key, value]) => `Environment=${quote(`${key}=${value}`)}`),
    ...(exec.workingDirectory === undefined
      ? []
      : [`WorkingDirectory=${escapePercent(exec.workingDirectory)}`]),
    `User=${exec.user}`,
    `KillSignal=SIG${unit.stop.signal}`,
    `TimeoutStopSec=${unit.stop.timeoutSeconds}`,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}

/** Returns the limit of starts, which is one more than that of restarts: the first start counts as well. */
function startLimit({ type, restart }: UnitDefinition): readonly string[] {
  if (type === 'OneShot') return [];
  return ['StartLimitIntervalSec=60', `StartLimitBurst=${restart.maxPerMinute + 1}`];
}

/** Returns the lines of a service. With Type=exec a start succeeds only when the program exists and can be executed. */
function serviceLines({ restart }: UnitDefinition): readonly string[] {
  return [
    'Type=exec',
    `Restart=${RESTART[restart.policy]}`,
    `RestartSec=${restart.delaySeconds}`,
    `RestartPreventExitStatus=${NOT_STARTABLE}`,
  ];
}

function oneShotLines({ timeoutSeconds }: UnitDefinition): readonly string[] {
  return ['Type=oneshot', 'RemainAfterExit=yes', `TimeoutStartSec=${timeoutSeconds}`];
}

function reloadCommand({ reload }: UnitDefinition): string | undefined {
  if (!reload) return undefined;
  if (reload.argv?.length) return `ExecReload=${reload.argv.map(quoteArgument).join(' ')}`;
  return `ExecReload=/bin/kill -s ${reload.signal ?? 'HUP'} $MAINPID`;
}

/** Quotes an argument as one word, without specifiers and variables of systemd. */
function quoteArgument(word: string): string {
  return quote(word.replaceAll('$', '$$$$'));
}

function quote(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\r', '\\r');
  return `"${escapePercent(escaped)}"`;
}

function escapePercent(text: string): string {
  return text.replaceAll('%', '%%');
}
