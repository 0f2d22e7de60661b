/** The answer of `kubenode why machine`, word for word. */
import type { JSX } from 'preact';
import type { MachineAnswer } from '../../../views/machine/detail.ts';
import { Command } from '../parts/command.tsx';
import { clockText } from '../parts/time.ts';
import { type OnDemand, useOnDemand } from './on-demand.ts';

interface AnswerProps {
  /** Its key. */
  readonly machine: string;
  readonly version: string;
}

export function Answer({ machine, version }: AnswerProps): JSX.Element {
  const { answer, isReading, readAgain } = useOnDemand<MachineAnswer>('why', machine, version);
  return (
    <div class="answer" aria-busy={isReading}>
      <Command text={`kubenode why machine ${machine.slice(machine.indexOf('/') + 1)}`} />
      <Words answer={answer} />
      {answer && (
        <p class="soft">
          {'at' in answer && `At ${clockText(Date.parse(answer.at), '2-digit')}. `}
          <button type="button" class="quiet-button" onClick={readAgain} disabled={isReading}>
            {isReading ? 'Reading …' : 'Ask again'}
          </button>
        </p>
      )}
    </div>
  );
}

function Words({ answer }: Pick<OnDemand<MachineAnswer>, 'answer'>): JSX.Element {
  if (answer === undefined) return <p class="soft">Reading the cluster …</p>;
  if (answer === null) return <p class="soft">This console does not explain the machine: run the command.</p>;
  if ('problem' in answer) return <p class="badge attention">! not answered: {answer.problem}</p>;
  return <Text text={answer.text} />;
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
