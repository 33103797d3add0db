package graph

// shapeless are the keys that no tensor's shape, count or format depends on:
// token ids, training and sampling defaults, names, and arithmetic that engines
// read for correctness alone.
var shapeless = setOf(
	"_attn_implementation", "_name_or_path", "add_cross_attention", "architectures", "attention_dropout",
	"auto_map", "aux_loss_alpha", "bad_words_ids", "begin_suppress_tokens", "bos_token_id",
	"chunk_size_feed_forward", "cross_attention_hidden_size", "decoder_start_token_id", "diversity_penalty",
	"do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size", "eos_token_id", "ep_size",
	"exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id", "forced_eos_token_id",
	"hidden_act", "id2label", "ignore_index", "image_token_id", "indexer_rope_interleave",
	"initial_context_length", "initializer_range", "is_decoder", "is_encoder_decoder", "label2id",
	"length_penalty", "max_length", "max_window_layers", "media_placeholder_token_id", "min_length",
	"model_type", "no_repeat_ngram_size", "norm_topk_prob", "num_beam_groups", "num_beams",
	"num_return_sequences", "output_attentions", "output_hidden_states", "output_router_logits",
	"output_scores", "pad_token_id", "prefix", "pretraining_tp", "problem_type", "pruned_heads",
	"remove_invalid_values", "repetition_penalty", "return_dict", "return_dict_in_generate", "rms_norm_eps",
	"rope_interleave", "routed_scaling_factor", "router_aux_loss_coef", "router_jitter_noise", "sep_token_id",
	"seq_aux", "suppress_tokens", "swiglu_limit", "task_specific_params", "temperature", "tf_legacy_loss",
	"tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "topk_method", "torch_dtype", "torchscript",
	"transformers_version", "typical_p", "use_bfloat16", "use_cache", "use_unified_vision_chunk",
	"video_placeholder", "video_token_id", "vision_end_token_id", "vision_start_token_id",
)

func setOf(keys ...string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[k] = true
	}
	return m
}
