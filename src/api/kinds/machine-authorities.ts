/** The report of an agent about the authorities of its cluster. A rotation of them waits for it. */
import { PUBLISHED_PHASES } from '../authorities/document.ts';
import { SHA256 } from '../patterns.ts';
import { bigInt, choice, flag, list, message, named, type Schema, text } from '../schema.ts';

/** The states of a kubelet whose certificate and kubeconfig the agent keeps. */
export const KUBELET_TRUST = ['None', 'Foreign', 'RestartPending', 'CertificatePending', 'Current'] as const;

function fingerprint(sentence: string): Schema {
  return text(sentence, { max: 64, pattern: SHA256 });
}

export const authoritiesSchema = named(
  'MachineAuthorities',
  'The authorities of the cluster that agent and kubelet use, and what the agent has followed of their rotation.',
  {
    managed: flag(
      'Whether the agent keeps its certificate and its CA. Otherwise another program does, and the agent cannot follow a rotation.',
    ),
    rotation: text('ID of the rotation that the agent has followed. Missing: none was published.', {
      max: 64,
    }).optional(),
    phase: choice('The phase that the agent has followed.', PUBLISHED_PHASES).optional(),
    order: bigInt('Order of what the agent has followed. It grows with each phase.').optional(),
    trusted: list(
      'SHA-256 of the authorities that the host trusts. Empty: those of its system.',
      fingerprint('SHA-256 of a certificate.'),
      [0, 4],
    ),
    issuer: fingerprint('SHA-256 of the authority that issued the certificate of the agent.').optional(),
    kubelet: choice(
      'None: the agent manages no kubelet. Foreign: the kubelet reads a CA, a kubeconfig or a configuration that the agent does not keep, or renews its certificate itself. RestartPending: it runs since before the authorities changed, and is restarted by a grant. CertificatePending: its certificate is issued again, and read within minutes.',
      KUBELET_TRUST,
    ),
    problem: message('Why the agent does not follow what is published.', 512).optional(),
  },
);
