/** Breakages of programs, config and units on the disk. Pure. */
import { type Breakage, type ChaosWord, NODE_PATHS } from './breakage.ts';

const { kubeletConfig, containerdConfig, network, kubeletUnit, kubeletOrder, containerdLimits, current } =
  NODE_PATHS;
const PROGRAM = `${current}/kubelet`;
const FOLDER = `$(readlink ${current})`;

type FileBreakage = readonly [word: ChaosWord, what: string, script: string, ...corrects: readonly string[]];

/** In one step, so that the agent finds one change. */
function replace(path: string, command: string): string {
  return `cp -p ${path} ${path}.theirs && ${command} && mv ${path}.theirs ${path}`;
}

function append(path: string, line: string): string {
  return replace(path, `echo '${line}' >> ${path}.theirs`);
}

const RELOAD = 'systemctl daemon-reload';
const KILL = 'systemctl kill --signal=KILL --kill-who=main kubelet';

const ALL: readonly FileBreakage[] = [
  ['chmod', 'kubelet-program', `chmod 644 ${PROGRAM}; systemctl stop kubelet`, PROGRAM],
  ['chmod', 'kubelet-program-writable', `chmod 777 ${PROGRAM}`, PROGRAM],
  ['chmod', 'kubelet-config', `chmod 666 ${kubeletConfig}`, kubeletConfig],
  [
    'chmod',
    'containerd-config',
    `chmod 000 ${containerdConfig}; systemctl restart containerd`,
    containerdConfig,
  ],
  ['chmod', 'kubelet-unit', `chmod 600 ${kubeletUnit}`, 'kubelet'],
  ['chown', 'kubelet-program', `chown daemon:daemon ${PROGRAM}`, PROGRAM],
  ['chown', 'kubelet-config', `chown daemon ${kubeletConfig}`, kubeletConfig],
  ['chown', 'containerd-drop-in', `chown daemon ${containerdLimits}`, 'containerd'],
  ['delete', 'kubelet-program', `rm ${PROGRAM}`, PROGRAM],
  ['delete', 'kubelet-program-and-stop', `rm ${PROGRAM}; systemctl stop kubelet`, PROGRAM],
  ['delete', 'kubelet-config', `rm ${kubeletConfig}`, kubeletConfig],
  ['delete', 'kubelet-config-and-kill', `rm ${kubeletConfig}; ${KILL}`, kubeletConfig],
  ['delete', 'kubelet-unit', `rm ${kubeletUnit}; ${RELOAD}`, 'kubelet'],
  ['delete', 'kubelet-unit-and-stop', `systemctl stop kubelet; rm ${kubeletUnit}; ${RELOAD}`, 'kubelet'],
  ['delete', 'kubelet-folder', `rm -r ${FOLDER}`, FOLDER],
  ['delete', 'kubelet-all-versions', `systemctl stop kubelet; rm -r /opt/kubenode/kubelet`, FOLDER, current],
  ['delete', 'kubelet-link', `rm ${current}`, current],
  ['delete', 'containerd-drop-in', `rm ${containerdLimits}; ${RELOAD}`, 'containerd'],
  ['delete', 'network-config', `rm ${network}`, network],
  ['edit', 'kubelet-config', append(kubeletConfig, ' '), kubeletConfig],
  [
    'edit',
    'kubelet-config-and-kill',
    `${replace(kubeletConfig, `echo '{' > ${kubeletConfig}.theirs`)}; ${KILL}`,
    kubeletConfig,
  ],
  ['edit', 'containerd-config', append(containerdConfig, '# theirs'), containerdConfig],
  ['edit', 'network-config', append(network, ' '), network],
  ['edit', 'kubelet-unit', `${append(kubeletUnit, '# theirs')}; ${RELOAD}`, 'kubelet'],
  ['edit', 'kubelet-unit-without-reload', append(kubeletOrder, '# theirs'), 'kubelet'],
  [
    'edit',
    'kubelet-unit-and-restart',
    `sed -i 's|^ExecStart=.*|ExecStart=/bin/sleep infinity|' ${kubeletUnit}; ${RELOAD}; systemctl restart kubelet`,
    'kubelet',
    'process kubelet',
  ],
  ['edit', 'kubelet-program', `cp /bin/true ${FOLDER}/theirs && mv ${FOLDER}/theirs ${PROGRAM}`, PROGRAM],
  [
    'edit',
    'kubelet-program-and-restart',
    `cp /bin/sleep ${FOLDER}/theirs && mv ${FOLDER}/theirs ${PROGRAM}; systemctl restart kubelet`,
    PROGRAM,
  ],
  ['edit', 'kubelet-link', `ln -sfn /usr/bin ${current}`, current],
];

export const FILE_BREAKAGES: readonly Breakage[] = ALL.map(([word, what, script, ...corrects]) => ({
  id: `${word}-${what}`,
  word,
  script,
  corrects,
  ends: 'Correct',
}));
