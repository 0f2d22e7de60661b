/** Breakages of what is around the components: disk, network, clock, systemd, the boot, and what the agent remembers. Pure. */
import { AGENT_UNIT, type Breakage, NODE_PATHS, SILENCE_SECONDS } from './breakage.ts';

const { state, clock, kubeletConfig } = NODE_PATHS;
const RESTART_AGENT = `systemctl restart ${AGENT_UNIT}`;
const SMALL = '/run/test-small-disk';
export const FILLER = `${state}/filler`;

/** The state of the agent on a small disk of its own, which is then full. */
const FILL = [
  `systemctl stop ${AGENT_UNIT}`,
  `used=$(du --summarize --block-size=1K ${state} | cut -f 1)`,
  `mkdir -p ${SMALL}`,
  `mount -t tmpfs -o mode=755,size=$((used + used / 8 + 4096))k small ${SMALL}`,
  `cp -a ${state}/. ${SMALL}/`,
  `mount --bind ${SMALL} ${state}`,
  `systemctl start ${AGENT_UNIT}`,
  `cat /dev/zero > ${FILLER} 2> /dev/null || true`,
].join(' && ');

/** What the sentence asks for. */
const FREE = `rm ${FILLER}`;

/** Not a part of what is tested: the state comes back from the small disk. */
export const UNMOUNT_SMALL_DISK = [
  `mountpoint -q ${SMALL} || exit 0`,
  `systemctl stop ${AGENT_UNIT}`,
  `umount ${state}`,
  `find ${state} -mindepth 1 -delete`,
  `cp -a ${SMALL}/. ${state}/`,
  `umount ${SMALL}`,
  `systemctl start ${AGENT_UNIT}`,
].join('; ');

const fills: readonly Breakage[] = [
  {
    id: 'fill-and-change',
    word: 'fill',
    script: FILL,
    outside: 'ChangeMachine',
    ends: 'Report',
    remedy: FREE,
  },
  {
    id: 'fill-and-stop',
    word: 'fill',
    script: `${FILL}; systemctl stop kubelet`,
    ends: 'Report',
    remedy: FREE,
  },
];

/** To the API server, through the only gateway of the node. */
const GATEWAY = "$(ip route show default | cut -d ' ' -f 3)";
const CUT = `ip route add blackhole ${GATEWAY}/32`;
const CONNECT = `ip route del blackhole ${GATEWAY}/32`;
/** As somebody's tool does: another file under the same name. */
const EDIT = `cp -p ${kubeletConfig} ${kubeletConfig}.theirs; echo ' ' >> ${kubeletConfig}.theirs; mv ${kubeletConfig}.theirs ${kubeletConfig}`;

const cuts: readonly Breakage[] = [
  ['stop', 'systemctl stop kubelet containerd'],
  ['edit', EDIT, kubeletConfig],
  ['restart', `${RESTART_AGENT}; systemctl stop kubelet`],
].map(([what, script, ...corrects]) => ({
  id: `network-and-${what}`,
  word: 'network',
  script: `${CUT}; ${script}`,
  corrects,
  ends: 'Correct',
  isCut: true,
  remedy: CONNECT,
}));

const DAY_MS = 86_400_000;
/** It stays for what follows it. */
const clocks: readonly Breakage[] = [
  ['day-ahead', DAY_MS],
  ['day-behind', -DAY_MS],
  ['hour-ahead', 3_600_000],
  ['right', 0],
].flatMap(([what, offset]) =>
  [
    ['stop', 'systemctl stop kubelet'],
    ['edit', EDIT, kubeletConfig],
    ['restart', `${RESTART_AGENT}; systemctl stop kubelet`],
  ].map(
    ([then, script, ...corrects]): Breakage => ({
      id: `clock-${what}-and-${then}`,
      word: 'clock',
      script: `echo ${offset} > ${clock}; ${script}`,
      corrects,
      ends: 'Correct',
    }),
  ),
);

const DROP_IN = '/etc/systemd/system/kubelet.service.d/50-theirs.conf';
const RELOAD = 'systemctl daemon-reload';

function dropIn(lines: string): string {
  return `printf '[Service]\\n${lines}\\n' > ${DROP_IN}; ${RELOAD}`;
}

const dropIns: readonly Breakage[] = [
  // It changes nothing that is declared: drop-ins of other people stay.
  {
    id: 'drop-in-nice',
    word: 'drop-in',
    script: `${dropIn('Nice=5')}; systemctl restart kubelet`,
    ends: 'Correct',
  },
  {
    id: 'drop-in-unloaded',
    word: 'drop-in',
    script: `printf '[Service]\\nNice=4\\n' > ${DROP_IN}`,
    corrects: ['kubelet'],
    ends: 'Correct',
  },
  {
    id: 'drop-in-fails',
    word: 'drop-in',
    script: `${dropIn('ExecStartPre=/bin/false')}; systemctl restart kubelet`,
    ends: 'Report',
    remedy: `rm ${DROP_IN}; ${RELOAD}`,
  },
  {
    id: 'drop-in-other-program',
    word: 'drop-in',
    script: `${dropIn('ExecStart=\\nExecStart=/bin/sleep infinity')}; systemctl restart kubelet`,
    // Three restarts, and it is left.
    corrects: ['process kubelet', 'process kubelet', 'process kubelet'],
    ends: 'Report',
    remedy: `rm ${DROP_IN}; ${RELOAD}; systemctl restart kubelet`,
  },
];

const boots: readonly Breakage[] = [
  { id: 'reboot', word: 'reboot', outside: 'Reboot', ends: 'Correct' },
  { id: 'reboot-by-power', word: 'reboot', outside: 'CutPower', ends: 'Correct' },
];

/** What the agent remembers is removed while it runs, and while it does not. */
const states: readonly Breakage[] = [
  ['journal', `${state}/journal`],
  ['desired', `${state}/desired.json`],
  ['targets', `${state}/targets`],
  ['cache', `${state}/cache`],
  ['status', `${state}/status.json`],
].flatMap(([what, path]): readonly Breakage[] => [
  { id: `state-${what}-removed`, word: 'state', script: `rm -rf ${path}`, ends: 'Correct' },
  {
    id: `state-${what}-removed-at-rest`,
    word: 'state',
    script: `systemctl stop ${AGENT_UNIT}; rm -rf ${path}; systemctl start ${AGENT_UNIT}`,
    ends: 'Correct',
  },
]);

/** The agent begins a new journal, and is killed when that contains the start of the kubelet and nothing else. */
const journalInPart: Breakage = {
  id: 'state-journal-removed-and-killed',
  word: 'state',
  script: [
    `rm ${state}/journal`,
    'systemctl stop kubelet',
    "timeout 60 bash -c 'until systemctl --quiet is-active kubelet; do sleep 0.2; done'",
    `systemctl kill --signal=KILL --kill-who=main ${AGENT_UNIT}`,
  ].join('; '),
  ends: 'Correct',
};

/** Also the certificate, and the token was used: the host has to join again. */
const everything: Breakage = {
  id: 'state-all-removed',
  word: 'state',
  script: `systemctl stop ${AGENT_UNIT}; rm -rf ${state}; systemctl start ${AGENT_UNIT}`,
  ends: 'Report',
  withinSeconds: SILENCE_SECONDS,
  // By a clock that is an hour ahead every grant has ended: a host that installs everything again needs the right time.
  remedy: `echo 0 > ${clock}; ${RESTART_AGENT}`,
  remedyOutside: 'BringToken',
};

export const ENVIRONMENT_BREAKAGES: readonly Breakage[] = [
  ...fills,
  ...cuts,
  ...clocks,
  ...dropIns,
  ...boots,
  ...states,
  journalInPart,
  everything,
];
