/** What is true of a node at one moment, by programs of the node itself and not by its agent. */
import type { Condition } from '../../../src/kube/objects/conditions.ts';

export interface NodeFile {
  readonly type: 'File' | 'Folder' | 'Link';
  readonly mode: string;
  readonly owner: string;
  /** Digest of a file, target of a link. */
  readonly content: string;
}

export interface NodeUnit {
  /** As `systemctl is-enabled` prints it. */
  readonly enabled: string;
  /** Of systemd: active, failed, … */
  readonly active: string;
  readonly needsReload: boolean;
  /** Exit code, or number of the signal, of the last run. */
  readonly lastExit: string;
  /** Of an active unit: the main process. */
  readonly pid: string;
  readonly isSuspended: boolean;
  /** Digest of what it runs. */
  readonly program: string;
}

/** What a script of the node prints. */
export interface HostObservation {
  readonly files: ReadonlyMap<string, NodeFile>;
  readonly units: ReadonlyMap<string, NodeUnit>;
  /** By component: what its probe asks. */
  readonly answers: ReadonlyMap<string, boolean>;
  readonly freeKiB: number;
}

export interface NodeObservation extends HostObservation {
  /** Of the Machine; of the status on the node while the API server is not reachable. */
  readonly conditions: readonly Condition[];
  /** The agent has renewed its Lease since the breakage. Undefined: unknown, while the API server is not reachable. */
  readonly isHeartbeatNew?: boolean;
  /** The agent has accepted the newest state of the Machine. Undefined as above. */
  readonly isAccepted?: boolean;
  /** The Node is Ready, with the boot id of the node. Undefined as above. */
  readonly isNodeReady?: boolean;
}

export interface ObservedNames {
  readonly paths: readonly string[];
  readonly units: readonly string[];
}

const PORT = 10_248;

/** For /bin/bash. Prints one line for each thing, with tabs between words. */
export function observationScript({ paths, units }: ObservedNames, state: string): string {
  return `
file() {
  if [ -L "$1" ]; then printf 'file\\t%s\\tLink\\t-\\t-\\t%s\\n' "$1" "$(readlink "$1")"
  elif [ -d "$1" ]; then printf 'file\\t%s\\tFolder\\t%s\\t-\\n' "$1" "$(stat -c $'%04a\\t%U:%G' "$1")"
  elif [ -e "$1" ]; then printf 'file\\t%s\\tFile\\t%s\\t%s\\n' "$1" "$(stat -c $'%04a\\t%U:%G' "$1")" "$(sha256sum < "$1")"
  fi
}
unit() {
  show() { systemctl show --value --property="$1" "$unit.service"; }
  local unit=$1 pid; pid=$(show MainPID)
  local state=- program=-
  if [ "$pid" != 0 ]; then
    state=$(sed 's/.*) //' /proc/$pid/stat 2> /dev/null | cut -c 1)
    program=$(sha256sum < /proc/$pid/exe 2> /dev/null)
  fi
  printf 'unit\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$unit" "$(systemctl is-enabled "$unit" 2> /dev/null || true)" \\
    "$(show ActiveState)" "$(show NeedDaemonReload)" "$(show ExecMainStatus)" "$pid" "$state" "$program"
}
answer() { if timeout 3 bash -c "$2" > /dev/null 2>&1; then printf 'answer\\t%s\\tyes\\n' "$1"; else printf 'answer\\t%s\\tno\\n' "$1"; fi; }
${paths.map((path) => `file '${path}'`).join('\n')}
${units.map((unit) => `unit '${unit}'`).join('\n')}
answer kubelet 'exec 3<> /dev/tcp/127.0.0.1/${PORT} && printf "GET /healthz HTTP/1.0\\r\\n\\r\\n" >&3 && head -n 1 <&3 | grep -q " 200 "'
answer containerd 'ctr version'
printf 'free\\t%s\\n' "$(df --output=avail --block-size=1K ${state} 2> /dev/null | tail -n 1)"
`;
}

export function parseObservation(text: string): HostObservation {
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t').map((word) => word.replace(/ +-$/, '')));
  const ofKind = (kind: string): string[][] => rows.filter(([first]) => first === kind);
  return {
    files: new Map(ofKind('file').map(([, path = '', ...words]) => [path, toFile(words)])),
    units: new Map(ofKind('unit').map(([, unit = '', ...words]) => [unit, toUnit(words)])),
    answers: new Map(ofKind('answer').map(([, component = '', word = '']) => [component, word === 'yes'])),
    freeKiB: Number(ofKind('free')[0]?.[1]),
  };
}

function toFile([type, mode = '', owner = '', content = '']: readonly string[]): NodeFile {
  return { type: type as NodeFile['type'], mode, owner, content };
}

function toUnit(words: readonly string[]): NodeUnit {
  const [enabled = '', active = '', needsReload, lastExit = '', pid = '', state, program = ''] = words;
  const needs = needsReload === 'yes';
  return { enabled, active, needsReload: needs, lastExit, pid, isSuspended: state === 'T', program };
}
