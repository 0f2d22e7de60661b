import { describe, expect, it } from 'vitest';
import { type InstalledKubelet, usesAgentFiles } from '../../../src/agent/authorities/kubelet-files.ts';
import type { UnitDefinition } from '../../../src/agent/host/port.ts';
import { CLUSTER_CA_FILE, IDENTITY_KUBECONFIG } from '../../../src/agent/layout.ts';
import { agentFile, agentUnit } from '../../support/agent/targets.ts';

const CONFIG = '/etc/kubernetes/kubelet.yaml';
const KUBECONFIG = `--kubeconfig=${IDENTITY_KUBECONFIG}`;
const OWN = `authentication:\n  x509: {clientCAFile: "${CLUSTER_CA_FILE}"}\n`;

function kubelet(
  argv: readonly string[],
  config: string | undefined = OWN,
  unit: Partial<UnitDefinition> = {},
): InstalledKubelet {
  const exec = { argv: ['/opt/kubelet', ...argv], env: {}, user: 'root' };
  const files = config === undefined ? [] : [agentFile(CONFIG, config)];
  return { files, units: [agentUnit('kubelet', { exec, ...unit })] };
}

function existing(content: string): InstalledKubelet {
  const { exec: _, ...unit } = agentUnit('kubelet', { existing: true, dropIns: [{ name: '10', content }] });
  return { files: [agentFile(CONFIG, OWN)], units: [unit] };
}

const USUAL = [`--config=${CONFIG}`, KUBECONFIG];

describe('usesAgentFiles', () => {
  it.each<[what: string, kubelet: InstalledKubelet]>([
    ['its kubeconfig and its CA', kubelet(USUAL)],
    ['values in the next argument', kubelet(['--config', CONFIG, '--kubeconfig', IDENTITY_KUBECONFIG])],
    [
      'a configuration in JSON',
      kubelet(USUAL, `{"clientCAFile":"${CLUSTER_CA_FILE}","rotateCertificates":false}`),
    ],
    [
      'a CA in a flag',
      kubelet([...USUAL, `--client-ca-file=${CLUSTER_CA_FILE}`], 'kind: KubeletConfiguration'),
    ],
    ['no clients with certificates', kubelet(USUAL, 'kind: KubeletConfiguration')],
    ['no configuration at all', kubelet([KUBECONFIG])],
    [
      'paths in a sandbox',
      kubelet([`--kubeconfig=/sandbox/m-1${IDENTITY_KUBECONFIG}`, `--config=/sandbox/m-1${CONFIG}`]),
    ],
    ['a folder of further configuration', kubelet([...USUAL, '--config-dir=/etc/kubernetes'])],
    [
      'a unit of the host with another command',
      existing(`[Service]\nExecStart=\nExecStart=/usr/bin/kubelet ${KUBECONFIG}\n`),
    ],
    ['a rotation that is switched off', kubelet([...USUAL, '--rotate-certificates=false'])],
  ])('HOS-22 accepts a kubelet that reads what the agent keeps: %s', (_, installed) => {
    expect(usesAgentFiles(installed)).toBe(true);
  });

  it.each<[what: string, kubelet: InstalledKubelet]>([
    ['another kubeconfig', kubelet([`--config=${CONFIG}`, '--kubeconfig=/etc/kubernetes/kubelet.conf'])],
    ['two kubeconfigs', kubelet([...USUAL, '--kubeconfig=/etc/kubernetes/kubelet.conf'])],
    ['no kubeconfig', kubelet([`--config=${CONFIG}`])],
    ['another CA', kubelet(USUAL, 'authentication: {x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}')],
    ['another CA in JSON', kubelet(USUAL, '{"x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"}}')],
    ['another CA in a flag', kubelet([...USUAL, '--client-ca-file=/etc/kubernetes/pki/ca.crt'])],
    [
      'another CA in a drop-in',
      kubelet(USUAL, OWN, { dropIns: [{ name: '1', content: '--client-ca-file=/ca.crt' }] }),
    ],
    [
      'another CA in the environment',
      kubelet(USUAL, OWN, {
        exec: { argv: ['/opt/kubelet', ...USUAL], env: { ARGS: '--client-ca-file=/ca.crt' }, user: 'root' },
      }),
    ],
    ['a configuration of others', kubelet([KUBECONFIG, '--config=/var/lib/kubelet/config.yaml'])],
    ['a folder of others', kubelet([...USUAL, '--config-dir=/etc/others'])],
    ['certificates of its own', kubelet(USUAL, `${OWN}rotateCertificates: true\n`)],
    ['certificates of its own, in JSON', kubelet(USUAL, '{"rotateCertificates":true}')],
    ['certificates of its own, by a flag', kubelet([...USUAL, '--rotate-certificates'])],
    ['certificates of its own, by a flag with a value', kubelet([...USUAL, '--rotate-certificates=true'])],
    ['a unit of the host with its own command', existing(`[Service]\nEnvironment="ARGS=${KUBECONFIG}"\n`)],
  ])('HOS-22 names a kubelet that reads something else: %s', (_, installed) => {
    expect(usesAgentFiles(installed)).toBe(false);
  });
});
