/** Builds what the agent reports of the authorities of its cluster. Pure. */
import type { MachineAuthorities } from '../../api/generated/types.ts';
import type { TrustMoment } from '../component/drift/trust.ts';
import type { AuthoritiesFollower } from './follower.ts';
import { kubeletTrust, type ReportedUnits } from './kubelet.ts';

/** Nothing before the host was read, because an unknown issuer is not another one. */
export function reportAuthorities(
  follower: Pick<AuthoritiesFollower, 'followed' | 'kubelet' | 'report'> | undefined,
  components: readonly ReportedUnits[],
  moment: TrustMoment,
): { readonly authorities?: MachineAuthorities } {
  if (!follower) {
    const input = { components, followed: undefined, certificate: undefined, moment };
    return { authorities: { managed: false, trusted: [], kubelet: kubeletTrust(input) } };
  }
  const report = follower.report();
  if (!report) return {};
  const [followed, certificate] = [follower.followed(), follower.kubelet()];
  return { authorities: { ...report, kubelet: kubeletTrust({ components, followed, certificate, moment }) } };
}
