import type { ModelConfig, ProviderName } from '../core/config.ts';
import type { Prices } from '../core/usage.ts';
import { didYouMean } from '../core/nearest.ts';
import table from './prices.json' with { type: 'json' };

/** What the shipped table says about one model; prices stay dated data, and nothing is derived from a name's shape. */
export interface ModelFacts {
  context_tokens: number;
  max_output_tokens: number;
  /** `adaptive`: thinks only when asked to with `thinking: { type: 'adaptive' }`. */
  thinking: string;
  /** Takes `compaction: { type: 'summarize' }`; as documented, untried against the live service. */
  summarizes: boolean;
  /** Oldest first; each holds from its day (UTC) on. */
  prices: readonly (Prices & { from: string })[];
}

export interface KnownPrices {
  prices: Prices;
  /** The day the table was last checked. */
  prices_as_of: string;
}

/** Facts of exactly this provider and id, else undefined: another vendor's model never borrows a line. */
export function factsFor(provider: ProviderName, id: string): ModelFacts | undefined {
  return table.models.find((model) => model.provider === provider && model.ids.includes(id));
}

/** What to say of a model of the Claude API that the table does not know; undefined where nothing is odd. */
export function unknownModel({ provider, platform, base_url, id, prices }: ModelConfig): string | undefined {
  const asks = provider === 'anthropic' && platform === undefined && base_url === undefined;
  if (!asks || prices || factsFor(provider, id)) return undefined;
  const names = table.models.filter((model) => model.provider === provider).flatMap((model) => model.ids);
  return `the model ${JSON.stringify(id)} is not in the table of known models, so its prices and limits are unknown${didYouMean(id, names)}`;
}

/** Whether the service sums up a history of this model: by the table, and only where it is the Claude API that answers. */
export function summarizes({ provider, id, claude_api }: ModelConfig): boolean {
  return claude_api === true && factsFor(provider, id)?.summarizes === true;
}

/** Prices of exactly this provider and id on a day (milliseconds; default: the newest), or null: there is no default price. */
export function pricesFor(provider: ProviderName, id: string, now_ms = Infinity): KnownPrices | null {
  const dated = factsFor(provider, id)?.prices ?? [];
  const current = dated.findLast((entry) => Date.parse(entry.from) <= now_ms) ?? dated[0];
  if (!current) return null;
  const { from: _from, ...prices } = current;
  return { prices, prices_as_of: table.as_of };
}

/** The prices a model is billed with: the task's own before the table's; `as_of` is null for the task's. */
export function pricesOf(config: ModelConfig, now_ms: number): { prices: Prices | null; prices_as_of: string | null } {
  if (config.prices) return { prices: config.prices, prices_as_of: null };
  // Clouds have prices of their own.
  const known = config.platform === undefined ? pricesFor(config.provider, config.id, now_ms) : null;
  return known ?? { prices: null, prices_as_of: null };
}

/** Prices of the model that answered: the asked one's own, also under its dated name, else that of the table. */
export function pricesOfAnswer(config: ModelConfig, answered: string, now_ms: number): Prices | null {
  const dated = answered.startsWith(`${config.id}-`) && /^\d{8}$/.test(answered.slice(config.id.length + 1));
  if (answered === config.id || dated || answered === '') return pricesOf(config, now_ms).prices;
  return config.platform === undefined
    ? (pricesFor(config.provider, answered, now_ms)?.prices ?? null)
    : pricesOf(config, now_ms).prices;
}
