/** Every breakage that a sequence can have. Pure. */
import { AGENT_UNIT, type Breakage, NODE_PATHS, SILENCE_SECONDS } from './breakage.ts';
import { ENVIRONMENT_BREAKAGES } from './environment-breakages.ts';
import { FILE_BREAKAGES } from './file-breakages.ts';

const UNITS = ['kubelet', 'containerd', 'ssh'];

function killScript(signal: string, ...units: readonly string[]): string {
  return units.map((unit) => `systemctl kill --signal=${signal} --kill-who=main ${unit}`).join('; ');
}

const kills: readonly Breakage[] = [
  ...[...UNITS, AGENT_UNIT].map((unit) => [unit, [unit]] as const),
  ['all', [AGENT_UNIT, ...UNITS]] as const,
].map(([name, units]) => ({
  id: `kill-${name}`,
  word: 'kill',
  script: killScript('KILL', ...units),
  ends: 'Correct',
}));

/** A person may be looking at the process: the agent does not continue it. */
const suspensions: readonly Breakage[] = [...UNITS, AGENT_UNIT].map((unit) => ({
  id: `suspend-${unit}`,
  word: 'suspend',
  script: killScript('STOP', unit),
  ends: 'Report',
  ...(unit === AGENT_UNIT && { withinSeconds: SILENCE_SECONDS }),
  remedy: killScript('CONT', unit),
}));

const stops: readonly Breakage[] = [...UNITS.map((unit) => [unit]), UNITS].map((units) => ({
  id: `stop-${units.length === 1 ? units[0] : 'all'}`,
  word: 'stop',
  script: `systemctl stop ${units.join(' ')}`,
  ends: 'Correct',
}));

const disables: readonly Breakage[] = UNITS.map((unit) => ({
  id: `disable-${unit}`,
  word: 'disable',
  script: `systemctl disable --now ${unit}`,
  corrects: [unit],
  ends: 'Correct',
}));

const masks: readonly Breakage[] = [
  {
    id: 'mask-kubelet',
    word: 'mask',
    script: `ln -sf /dev/null ${NODE_PATHS.kubeletUnit}; systemctl daemon-reload; systemctl stop kubelet`,
    corrects: ['kubelet'],
    ends: 'Correct',
  },
  ...['', '--runtime', '--now'].map(
    (option): Breakage => ({
      id: `mask-containerd${option.slice(1)}`,
      word: 'mask',
      script: `systemctl mask ${option} containerd`,
      corrects: ['containerd'],
      ends: 'Correct',
    }),
  ),
];

export const CATALOGUE: readonly Breakage[] = [
  ...kills,
  ...suspensions,
  ...stops,
  ...disables,
  ...masks,
  ...FILE_BREAKAGES,
  ...ENVIRONMENT_BREAKAGES,
];
