/** Keeps the report of a machine within its share of the object, however many components fail at once. Pure. */
import type { MachineComponentReport, MachineStatus } from '../../api/generated/types.ts';
import { truncate } from '../../kube/objects/truncate.ts';

type Report = Required<Pick<MachineStatus, 'components' | 'drift' | 'conditions'>>;

const MAX_BYTES = 16 * 1024;

interface Share {
  readonly message: number;
  readonly denied: number;
  readonly drift: number;
}

/** The shares in the order in which texts and lists are shortened: the end of texts first, then older denied digests and differences. */
const SHARES: readonly Share[] = [
  { message: 1024, denied: 4, drift: 8 },
  { message: 512, denied: 4, drift: 8 },
  { message: 256, denied: 4, drift: 8 },
  { message: 128, denied: 4, drift: 4 },
  { message: 64, denied: 2, drift: 2 },
  { message: 64, denied: 1, drift: 1 },
  { message: 16, denied: 0, drift: 0 },
];

export function fitStatus(status: Report): Report {
  let fitting = status;
  for (const share of SHARES) {
    fitting = shrink(status, share);
    if (Buffer.byteLength(JSON.stringify(fitting)) <= MAX_BYTES) return fitting;
  }
  return fitting;
}

function shrink({ components, drift, conditions }: Report, share: Share): Report {
  return {
    components: components.map((each) => shrinkComponent(each, share)),
    drift: drift.slice(0, share.drift),
    // There are three of them: they may be longer.
    conditions: conditions.map((each) => ({
      ...each,
      message: truncate(each.message, Math.max(share.message, MIN_CONDITION)),
    })),
  };
}

const MIN_CONDITION = 256;

function shrinkComponent(report: MachineComponentReport, share: Share): MachineComponentReport {
  const { error, waiting, deniedDigests } = report;
  return {
    ...report,
    ...(error && { error: withText(error, share) }),
    ...(waiting && { waiting: withText(waiting, share) }),
    // The newest ones are last.
    ...(deniedDigests && {
      deniedDigests: deniedDigests.slice(deniedDigests.length - Math.min(share.denied, deniedDigests.length)),
    }),
  };
}

function withText<T extends { readonly message?: string }>(of: T, { message }: Share): T {
  return of.message === undefined ? of : { ...of, message: truncate(of.message, message) };
}
