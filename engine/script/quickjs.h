// The one way into the generated code: the engine's functions as the module exports them (w2c_qjs_...).
#pragma once

#include "engine/script/wasm_prelude.h"
#include "qjs.h"
