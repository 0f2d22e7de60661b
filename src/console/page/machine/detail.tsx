/** The components of a machine and its conditions that need attention, read again every few seconds while its drawer is open, and when the machine changes. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ComponentRow, ConditionRow, MachineDetailView } from '../../../views/machine/detail.ts';
import { Since } from '../parts/parts.tsx';
import { keyPath } from './on-demand.ts';

interface DetailProps {
  /** Its key. */
  readonly machine: string;
  /** Another object after each change of the machine. */
  readonly version: object;
  readonly now: number;
}

export function Detail({ machine, version, now }: DetailProps): JSX.Element | null {
  const detail = useDetail(machine, version);
  if (!detail) return null;
  const { components, conditions } = detail;
  return (
    <>
      <h3>Components</h3>
      {components.length === 0 && <p class="soft">No set selects it, and none is pinned.</p>}
      {components.map((row) => (
        <Component key={row.name} row={row} now={now} />
      ))}
      {conditions.length > 0 && <h3>Conditions</h3>}
      {conditions.map((row) => (
        <Condition key={row.condition} row={row} now={now} />
      ))}
    </>
  );
}

/** The components of a machine change without its tile. */
const READ_MS = 5000;

/** Undefined: not read yet. */
function useDetail(machine: string, version: object): MachineDetailView | undefined {
  const [detail, setDetail] = useState<MachineDetailView>();
  useEffect(() => {
    const stop = new AbortController();
    const read = (): void => void readDetail(machine, stop.signal, setDetail);
    read();
    const timer = setInterval(read, READ_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [machine, version]);
  return detail;
}

async function readDetail(
  machine: string,
  signal: AbortSignal,
  found: (detail: MachineDetailView) => void,
): Promise<void> {
  try {
    const response = await fetch(`/machines/${keyPath(machine)}`, { signal });
    const detail = (await response.json()) as MachineDetailView | null;
    if (detail) found(detail);
  } catch {
    // The server does not answer: the header shows that, and the last detail stays.
  }
}

function Component({ row, now }: { readonly row: ComponentRow; readonly now: number }): JSX.Element {
  const { name, desired, runs, digest, state, since, because } = row;
  return (
    <div class="component">
      <p>
        <strong>{name}</strong> {runs}
        {desired !== runs && ` → ${desired}`} <span class="soft">{state}</span>{' '}
        <Since since={since} now={now} />
      </p>
      <p class="soft">{because}</p>
      <code class="soft digest">{digest}</code>
    </div>
  );
}

function Condition({ row, now }: { readonly row: ConditionRow; readonly now: number }): JSX.Element {
  const { condition, reason, since, message } = row;
  return (
    <div class="component">
      <p>
        <strong>{condition}</strong> {reason} <Since since={since} now={now} />
      </p>
      <p class="soft">{message}</p>
    </div>
  );
}
