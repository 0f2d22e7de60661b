/** What is broken on a real node, and how. Pure data: the test carries it out. */

/** Each of them is in a sequence that is long enough. */
export const CHAOS_WORDS = [
  'kill',
  'suspend',
  'stop',
  'disable',
  'mask',
  'chmod',
  'chown',
  'delete',
  'edit',
  'fill',
  'network',
  'clock',
  'drop-in',
  'reboot',
  'state',
] as const;

export type ChaosWord = (typeof CHAOS_WORDS)[number];

export interface Breakage {
  /** `<word>-<what>`: a failed run names it. */
  readonly id: string;
  readonly word: ChaosWord;
  /** Of /bin/sh on the node. */
  readonly script?: string;
  /** After the script: what only the outside of a node can do. */
  readonly outside?: 'Reboot' | 'CutPower' | 'ChangeMachine';
  /** Paths and units whose content the agent corrects: three in ten minutes, and the fourth is a fight. */
  readonly corrects?: readonly string[];
  /**
   * What it can end as. Correct: as declared, with no help. Report: the agent leaves it to a person, so that a condition has to
   * report it. Then `remedy` does what the sentence asks for.
   */
  readonly ends: 'Correct' | 'Report';
  /** The API server is not reachable until `remedy`: the node has to be as declared before. */
  readonly isCut?: boolean;
  /** Instead of 60. */
  readonly withinSeconds?: number;
  /** Before the remedy: what a person does who has access to the cluster. */
  readonly remedyOutside?: 'BringToken';
  /** Of /bin/sh on the node. */
  readonly remedy?: string;
}

/** Where the components of the test have things on the node. */
export const NODE_PATHS = {
  kubeletConfig: '/etc/kubernetes/kubelet.json',
  containerdConfig: '/etc/containerd/config.toml',
  network: '/etc/cni/net.d/10-bridge.conflist',
  kubeletUnit: '/etc/systemd/system/kubelet.service',
  kubeletOrder: '/etc/systemd/system/kubelet.service.d/order.conf',
  containerdLimits: '/etc/systemd/system/containerd.service.d/kubenode.conf',
  current: '/opt/kubenode/kubelet/current',
  state: '/var/lib/kubenode',
  /** Milliseconds by which the clock of the agent differs from that of this machine. */
  clock: '/etc/test-clock',
} as const;

export const AGENT_UNIT = 'kubenode-agent';
/** By component. */
export const COMPONENT_UNITS = { sshd: 'ssh', containerd: 'containerd', kubelet: 'kubelet' } as const;

/**
 * A silent agent is reported 45 s after the last contact of the controllers with the server by their watch of Leases. In a cluster of one
 * machine that watch hears of nothing else, and gets a bookmark each minute.
 */
export const SILENCE_SECONDS = 120;
