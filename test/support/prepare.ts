/**
 * Prepares what the first test run would wait for: the `binaries` of the control plane, the `node-base` of the test
 * nodes, the `older-kubelet` that they upgrade from, the `older-kubernetes` of hosted control planes, `gitea`, the git host of the tests, the `sops` programs, the core of `cluster-api`, `karpenter`, or `moto` and `sushy`, which emulate EC2 and BMCs.
 * .ci/run starts it early; each finishes immediately if its cache is filled.
 */
import { resolveBinaries } from '../../src/local/binaries/resolve.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { coreProgram, noCoreReason } from './cluster-api/core.ts';
import { giteaProgram, noGiteaReason } from './gitea/program.ts';
import { noOlderKubernetesReason, olderKubernetesProgram } from './hosting/older-kubernetes.ts';
import { karpenterProgram, noKarpenterProgramReason } from './karpenter/karpenter.ts';
import { motoServer, noMotoReason } from './moto/venv.ts';
import { nodeBase } from './node-kit/base.ts';
import { whyNoNodes } from './node-kit/needs.ts';
import { noOlderKubeletReason, olderKubelet } from './node-kit/older-kubelet.ts';
import { installEmulator, noEmulatorReason } from './redfish/emulator.ts';
import { noSopsReason, sopsPrograms } from './sops/programs.ts';

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  binaries: async () => {
    const programs = [
      'etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'kube-scheduler',
      'kubectl',
      'kubelet',
    ] as const;
    const { folder, origin } = await resolveBinaries({
      env: process.env,
      programs,
      clock: createSystemClock(),
      onStep: print,
    });
    return `${folder} (${JSON.stringify(origin)})`;
  },
  moto: async () => noMotoReason ?? (await motoServer()),
  sushy: async () => noEmulatorReason ?? (await installEmulator()),
  'older-kubernetes': async () => (await noOlderKubernetesReason()) ?? (await olderKubernetesProgram()),
  gitea: async () => (await noGiteaReason()) ?? (await giteaProgram()).path,
  'cluster-api': async () => (await noCoreReason()) ?? (await coreProgram()),
  karpenter: async () => (await noKarpenterProgramReason()) ?? (await karpenterProgram()),
  sops: async () => (await noSopsReason()) ?? Object.values(await sopsPrograms()).join(' '),
  'node-base': async () => whyNoNodes() ?? (await nodeBase()),
  'older-kubelet': async () => whyNoNodes() ?? (await noOlderKubeletReason()) ?? (await olderKubelet()),
};

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const part = PARTS[process.argv[2] ?? ''];
if (!part) throw new Error(`unknown part ${process.argv[2]}: use one of ${Object.keys(PARTS).join(', ')}`);
print(await part());
