/** The answer of `kubenode why machine`, word for word. */
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { MachineAnswer } from '../../../views/machine/detail.ts';
import { Command } from '../parts/command.tsx';
import { clockText } from '../parts/time.ts';
import { AskAgain, Failed } from './asked.tsx';
import { type OnDemand, useOnDemand } from './on-demand.ts';

interface AnswerProps {
  /** Its key. */
  readonly machine: string;
  readonly version: string;
}

export function Answer({ machine, version }: AnswerProps): JSX.Element {
  const { answer, failure, isReading, readAgain } = useOnDemand<MachineAnswer>('why', machine, version);
  const known = useLastText(machine, answer);
  return (
    <div class="answer" aria-busy={isReading}>
      <Command text={`kubenode why machine ${machine.slice(machine.indexOf('/') + 1)}`} />
      {answer && 'problem' in answer && <p class="badge attention">! not answered: {answer.problem}</p>}
      {known && <Text text={known.text} />}
      {answer || failure !== undefined ? (
        <Asked at={known?.at} {...{ failure, isReading, readAgain }} />
      ) : (
        <p class="soft">Reading the cluster …</p>
      )}
    </div>
  );
}

interface AskedProps extends Omit<OnDemand<MachineAnswer>, 'answer'> {
  /** When the text was read. */
  readonly at: string | undefined;
}

function Asked({ at, failure, ...ask }: AskedProps): JSX.Element {
  return (
    <>
      {failure !== undefined && <Failed failure={failure} />}
      <p class="soft">
        {at !== undefined && `At ${clockText(Date.parse(at), '2-digit')}. `}
        <AskAgain {...ask} />
      </p>
    </>
  );
}

interface KnownText {
  readonly text: string;
  readonly at: string;
}

/** Returns the last text about this machine: it stays beside a problem, with its time. */
function useLastText(machine: string, answer: MachineAnswer | undefined): KnownText | undefined {
  const last = useRef<{ readonly machine: string; readonly known: KnownText }>(undefined);
  if (answer && 'text' in answer) last.current = { machine, known: answer };
  return last.current?.machine === machine ? last.current.known : undefined;
}

/** Each line is wrapped behind its first word, as the name of a section is. */
function Text({ text }: { readonly text: string }): JSX.Element {
  const lines = text.trimEnd().split('\n');
  return (
    <pre class="words" tabIndex={0} aria-label="Answer">
      {lines.map((line, index) => (
        <span key={index}>{`${line}\n`}</span>
      ))}
    </pre>
  );
}
