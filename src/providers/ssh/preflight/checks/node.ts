/** Checks what of a node is on the host already: an import takes over no node that it did not expect. Pure. */
import {
  adoptedNode,
  fail,
  type PreflightCheck,
  type PreflightInput,
  passed,
  type Verdict,
  warn,
} from '../check.ts';

const KUBELETS = ['kubelet', 'k3s', 'k3s-server', 'k3s-agent', 'k0s', 'rke2'];
const RUNTIMES = ['containerd', 'dockerd', 'crio'];
const CNI_INTERFACE = /^(cni\d|flannel|cilium|cali|weave|kube-ipvs|kube-bridge|antrea)/;

/** The only one whose unit the agent can adopt. */
const ADOPTABLE = 'kubelet';

const kubelet: PreflightCheck = (input) => {
  const { processes, paths } = input.facts;
  const running = processes.filter((name) => KUBELETS.includes(name));
  if (running.length > 0) return runningKubelet(running, input);
  const left = paths.filter((path) => /kubelet|rancher/.test(path));
  if (left.length === 0) return passed('none');
  return warn(`left behind: ${left.join(', ')}`, 'remove them if no cluster needs this node');
};

function runningKubelet(running: readonly string[], input: PreflightInput): Verdict {
  const node = adoptedNode(input);
  const names = running.join(', ');
  if (node !== undefined && running.every((name) => name === ADOPTABLE)) {
    return passed(`${names} runs: the host is Node ${node} of this cluster`);
  }
  const why = input.adoption?.refusedReason;
  return fail(
    `${names} runs: the host is a Node already${why === undefined ? '' : `, and cannot be adopted: ${why}`}`,
    'drain it and remove it from its cluster, then stop and uninstall it',
  );
}

const containerRuntime: PreflightCheck = (input) => {
  const running = input.facts.processes.filter((name) => RUNTIMES.includes(name));
  if (running.length === 0) return passed('none');
  if (adoptedNode(input) !== undefined) return passed(`${running.join(', ')} runs and is adopted`);
  return warn(`${running.join(', ')} runs`, 'stop and uninstall it: containerd comes as a component');
};

const cni: PreflightCheck = (input) => {
  const { cniConfigs, interfaces } = input.facts;
  const links = interfaces.filter((name) => CNI_INTERFACE.test(name));
  const found = [...cniConfigs.map((name) => `/etc/cni/net.d/${name}`), ...links];
  if (found.length === 0) return passed('none');
  if (adoptedNode(input) !== undefined) return passed(`${found.join(', ')}: left as it is`);
  return warn(found.join(', '), 'remove the config of the old network plug-in, and reboot');
};

const agent: PreflightCheck = ({ facts: { paths } }) => {
  const found = paths.filter((path) => path.includes('kubenode'));
  if (found.length === 0) return passed('none');
  return fail(
    `an agent was here: ${found.join(', ')}`,
    'delete the Machine that it belongs to, or stop kubenode-agent and remove these files',
  );
};

export const NODE_CHECKS: Readonly<Record<string, PreflightCheck>> = {
  Kubelet: kubelet,
  ContainerRuntime: containerRuntime,
  CNI: cni,
  Agent: agent,
};
